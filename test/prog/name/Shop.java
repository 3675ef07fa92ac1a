/* Shop.java - time is spent in two methods, which the just-in-time compiler compiles. */
public class Shop {
	static long sum;

	static void ringTill(int n)
	{
		for (int i = 0; i < n; i++)
			sum += (sum ^ i) % 7;
	}

	static void fillShelf(int n)
	{
		for (int i = 0; i < n; i++)
			sum += (sum ^ i) % 5;
	}

	public static void main(String[] args)
	{
		for (int i = 0; i < 40000; i++) {
			ringTill(8000);
			fillShelf(2000);
		}
		System.out.println(sum);
	}
}
