const named: Readonly<Record<string, number>> = {n: 10, r: 13, t: 9, '\\': 0x5c, '"': 0x22, "'": 0x27}

/** The bytes that a text in kx's dialect stands for; `text` has one character a byte. */
export function unescaped(text: string): Buffer {
  const bytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\\') bytes.push(text.charCodeAt(at))
    else if (text[at + 1] === 'x') {
      bytes.push(Number.parseInt(text.slice(at + 2, at + 4), 16))
      at += 3
    } else bytes.push(named[text[++at] as string] as number)
  }
  return Buffer.from(bytes)
}
