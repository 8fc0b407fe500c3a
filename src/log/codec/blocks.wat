;; The blocks of LZ4 and Snappy, decoded in a memory of their own: the caller puts the stored bytes there, and fetches the
;; plain ones. Bytes are copied eight at once, so that seven bytes behind the input may be read, and seven behind the
;; output written: the caller leaves room for them. Everything else is checked; a result below 0 says what is damaged
;; (block-decoder.ts has the words), and $reached where the plain bytes before the damage end.
(module
  (memory (export "memory") 1)
  (global $reached (export "reached") (mut i32) (i32.const 0))
  ;; Matches with the distance 0 in the last LZ4 block.
  (global $hollow (export "hollow") (mut i32) (i32.const 0))

  (func $damaged (param $code i32) (param $to i32) (result i32)
    (global.set $reached (local.get $to))
    (local.get $code))

  ;; Literals of which only those in [at, end) are there.
  (func $cut (param $at i32) (param $end i32) (param $to i32) (param $limit i32) (result i32)
    (local $length i32)
    (local.set $length (i32.sub (local.get $end) (local.get $at)))
    (if (i32.gt_u (local.get $length) (i32.sub (local.get $limit) (local.get $to)))
      (then (local.set $length (i32.sub (local.get $limit) (local.get $to)))))
    (if (local.get $length) (then (call $copy (local.get $at) (local.get $to) (local.get $length))))
    (call $damaged (i32.const -3) (i32.add (local.get $to) (local.get $length))))

  ;; Copies [from, from + length) to $to. The ranges may overlap if $to - $from is at least 8. $length is above 0.
  (func $copy (param $from i32) (param $to i32) (param $length i32)
    (local $stop i32)
    (local.set $stop (i32.add (local.get $to) (local.get $length)))
    (loop $eight
      (i64.store align=1 (local.get $to) (i64.load align=1 (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $to (i32.add (local.get $to) (i32.const 8)))
      (br_if $eight (i32.lt_u (local.get $to) (local.get $stop)))))

  ;; Continues the bytes before $to, which repeat every $distance bytes, for $length bytes.
  (func $repeat (param $to i32) (param $distance i32) (param $length i32)
    (local $from i32)
    (local $stop i32)
    (local.set $from (i32.sub (local.get $to) (local.get $distance)))
    (local.set $stop (i32.add (local.get $to) (local.get $length)))
    (if (i32.lt_u (local.get $distance) (i32.const 8))
      (then
        ;; Byte by byte, until what lies from $from on is the least multiple of the period that has eight bytes.
        (local.set $distance
          (i32.mul (local.get $distance)
            (i32.div_u (i32.add (local.get $distance) (i32.const 7)) (local.get $distance))))
        (local.set $length (i32.sub (local.get $to) (local.get $from)))
        (loop $byte
          (if (i32.ge_u (local.get $to) (local.get $stop)) (then (return)))
          (i32.store8 (local.get $to) (i32.load8_u (i32.sub (local.get $to) (local.get $length))))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (br_if $byte (i32.lt_u (i32.sub (local.get $to) (local.get $from)) (local.get $distance))))
        (if (i32.ge_u (local.get $to) (local.get $stop)) (then (return)))))
    (call $copy (local.get $from) (local.get $to) (i32.sub (local.get $stop) (local.get $to))))

  ;; LZ4 block format. Decodes [at, end) to $to and at most up to $limit; returns where the plain bytes end.
  (func (export "lz4") (param $at i32) (param $end i32) (param $to i32) (param $limit i32) (result i32)
    (local $base i32)
    (local $token i32)
    (local $length i32)
    (local $byte i32)
    (global.set $hollow (i32.const 0))
    (local.set $base (local.get $to))
    (loop $sequence
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (call $damaged (i32.const -1) (local.get $to)))))
      (local.set $token (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $length (i32.shr_u (local.get $token) (i32.const 4)))
      (if (i32.eq (local.get $length) (i32.const 15))
        (then
          (loop $more
            (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (call $damaged (i32.const -2) (local.get $to)))))
            (local.set $byte (i32.load8_u (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $length (i32.add (local.get $length) (local.get $byte)))
            (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $end) (local.get $at))) (then (return (call $cut (local.get $at) (local.get $end) (local.get $to) (local.get $limit)))))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $limit) (local.get $to))) (then (return (call $damaged (i32.const -4) (local.get $to)))))
      (if (local.get $length)
        (then
          (call $copy (local.get $at) (local.get $to) (local.get $length))
          (local.set $at (i32.add (local.get $at) (local.get $length)))
          (local.set $to (i32.add (local.get $to) (local.get $length)))))
      (if (i32.eq (local.get $at) (local.get $end)) (then (return (local.get $to))))

      (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 2)) (then (return (call $damaged (i32.const -5) (local.get $to)))))
      (local.set $byte (i32.load16_u align=1 (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (if (i32.gt_u (local.get $byte) (i32.sub (local.get $to) (local.get $base)))
        (then (return (call $damaged (i32.const -6) (local.get $to)))))
      (local.set $length (i32.and (local.get $token) (i32.const 15)))
      (local.set $token (local.get $byte))
      (if (i32.eq (local.get $length) (i32.const 15))
        (then
          (loop $more
            (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (call $damaged (i32.const -2) (local.get $to)))))
            (local.set $byte (i32.load8_u (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $length (i32.add (local.get $length) (local.get $byte)))
            (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
      (local.set $length (i32.add (local.get $length) (i32.const 4)))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $limit) (local.get $to))) (then (return (call $damaged (i32.const -4) (local.get $to)))))
      (if (i32.eqz (local.get $token))
        (then
          ;; No such distance is legal; the library of LZ4, which Kafka uses, makes zeros of it.
          (global.set $hollow (i32.add (global.get $hollow) (i32.const 1)))
          (i32.store8 (local.get $to) (i32.const 0))
          (call $repeat (i32.add (local.get $to) (i32.const 1)) (i32.const 1) (i32.sub (local.get $length) (i32.const 1))))
        (else (call $repeat (local.get $to) (local.get $token) (local.get $length))))
      (local.set $to (i32.add (local.get $to) (local.get $length)))
      (br $sequence))
    unreachable)

  ;; Elements of a raw Snappy block, without the size before them. Decodes [at, end) to $to; they must end at $limit.
  ;; Returns $limit.
  (func (export "snappy") (param $at i32) (param $end i32) (param $to i32) (param $limit i32) (result i32)
    (local $base i32)
    (local $tag i32)
    (local $length i32)
    (local $distance i32)
    (local $extra i32)
    (local.set $base (local.get $to))
    (block $done
      (loop $element
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $tag (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $length (i32.shr_u (local.get $tag) (i32.const 2)))
        (if (i32.eqz (i32.and (local.get $tag) (i32.const 3)))
          (then
            (if (i32.ge_u (local.get $length) (i32.const 60))
              (then
                ;; The length has one to four bytes of its own.
                (local.set $extra (i32.sub (local.get $length) (i32.const 59)))
                (if (i32.gt_u (local.get $extra) (i32.sub (local.get $end) (local.get $at)))
                  (then (return (call $damaged (i32.const -2) (local.get $to)))))
                (local.set $length
                  (i32.and
                    (i32.load align=1 (local.get $at))
                    (i32.shr_u (i32.const -1) (i32.sub (i32.const 32) (i32.mul (local.get $extra) (i32.const 8))))))
                (local.set $at (i32.add (local.get $at) (local.get $extra)))))
            ;; One less than the length: compared so that a length of 2^32 does not become 0.
            (if (i32.ge_u (local.get $length) (i32.sub (local.get $end) (local.get $at))) (then (return (call $cut (local.get $at) (local.get $end) (local.get $to) (local.get $limit)))))
            (if (i32.ge_u (local.get $length) (i32.sub (local.get $limit) (local.get $to)))
              (then (return (call $damaged (i32.const -4) (local.get $to)))))
            (local.set $length (i32.add (local.get $length) (i32.const 1)))
            (call $copy (local.get $at) (local.get $to) (local.get $length))
            (local.set $at (i32.add (local.get $at) (local.get $length)))
            (local.set $to (i32.add (local.get $to) (local.get $length)))
            (br $element)))

        (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 1))
          (then
            (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (call $damaged (i32.const -5) (local.get $to)))))
            (local.set $length (i32.add (i32.and (local.get $length) (i32.const 7)) (i32.const 4)))
            (local.set $distance
              (i32.or
                (i32.shl (i32.shr_u (local.get $tag) (i32.const 5)) (i32.const 8))
                (i32.load8_u (local.get $at))))
            (local.set $at (i32.add (local.get $at) (i32.const 1))))
          (else
            (local.set $length (i32.add (local.get $length) (i32.const 1)))
            (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 2))
              (then
                (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 2)) (then (return (call $damaged (i32.const -5) (local.get $to)))))
                (local.set $distance (i32.load16_u align=1 (local.get $at)))
                (local.set $at (i32.add (local.get $at) (i32.const 2))))
              (else
                (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 4)) (then (return (call $damaged (i32.const -5) (local.get $to)))))
                (local.set $distance (i32.load align=1 (local.get $at)))
                (local.set $at (i32.add (local.get $at) (i32.const 4)))))))
        (if (i32.ge_u (i32.sub (local.get $distance) (i32.const 1)) (i32.sub (local.get $to) (local.get $base)))
          (then (return (call $damaged (i32.const -6) (local.get $to)))))
        (if (i32.gt_u (local.get $length) (i32.sub (local.get $limit) (local.get $to))) (then (return (call $damaged (i32.const -4) (local.get $to)))))
        (call $repeat (local.get $to) (local.get $distance) (local.get $length))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
        (br $element)))
    (if (i32.ne (local.get $to) (local.get $limit)) (then (return (call $damaged (i32.const -7) (local.get $to)))))
    (local.get $to)))
