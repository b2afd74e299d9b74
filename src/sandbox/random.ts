/** 0 ≤ n < 1, in steps of 2⁻³²; nothing that came before tells what comes next. */
export function secureRandom(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32
}
