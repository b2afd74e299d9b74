import { createHash } from 'node:crypto'
import type { Program } from '../../domain/run/program.ts'

/** The same user code with a fixed time and a fixed sequence of random numbers, in a function of its own. */
export function fixedProgram({ id, source, parameters }: Program, now: number, seed: number): Program {
  // One line, so that the line numbers in errors stay the same.
  const fixed =
    `const Date = ((D) => class Date extends D { constructor(...a) { a.length ? super(...a) : super(${now}) } ` +
    `static now() { return ${now} } })(globalThis.Date); ` +
    `const Math = ((M, s) => Object.create(M, { random: { value: () => { s = (s + 0x6d2b79f5) | 0; ` +
    'let t = M.imul(s ^ (s >>> 15), 1 | s); t = (t + M.imul(t ^ (t >>> 7), 61 | t)) ^ t; ' +
    `return ((t ^ (t >>> 14)) >>> 0) / 4294967296 } } }))(globalThis.Math, ${seed}); return await (async () => { `
  const key = createHash('sha256').update(`${id}/${now}/${seed}`).digest('hex')
  return { id: key, source: `${fixed}${source}\n})()`, parameters }
}

/** Numbers from 0 to 1, the same for each seed. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
