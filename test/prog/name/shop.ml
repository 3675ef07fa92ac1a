(* Functions of OCaml that touch known numbers of fresh pages: one page fault each. *)
let touch_all b pages value =
  for i = 0 to pages - 1 do
    Bytes.unsafe_set b (i * 4096) value
  done
[@@inline always]

let ring pages = let b = Bytes.create (pages * 4096) in touch_all b pages 'a'; b
[@@inline never]

let fill pages = let b = Bytes.create (pages * 4096) in touch_all b pages 'b'; b
[@@inline never]

let () = ignore (Sys.opaque_identity (ring 20000)); ignore (Sys.opaque_identity (fill 10000))
