import { estimateSize } from './estimate-size.ts'

/** Work that may pause at each `yield`, and returns its result. */
export type Slices<Result> = Generator<undefined, Result>

/** `JSON.stringify` of a large value; undefined when it has no JSON. Throws where `JSON.stringify` would. */
export function* jsonInSlices(value: unknown, depth = 0): Slices<string | undefined> {
  // A circular value has no end. `JSON.stringify` reports it.
  if (!isDivisible(value) || depth > depthMax) return JSON.stringify(value)
  return Array.isArray(value) ? yield* arrayInSlices(value, depth) : yield* objectInSlices(value, depth)
}

function* arrayInSlices(items: readonly unknown[], depth: number): Slices<string> {
  const parts: string[] = []
  for (let from = 0; from < items.length; yield) {
    let to = from
    let bytes = 0
    for (; to < items.length && bytes <= sliceBytes; to += 1) bytes += estimateSize(items[to], sliceBytes)
    // The last item of a slice may be a large one.
    if (bytes > sliceBytes && to - from === 1) parts.push((yield* jsonInSlices(items[from], depth + 1)) ?? 'null')
    else {
      if (bytes > sliceBytes) to -= 1
      parts.push(JSON.stringify(items.slice(from, to)).slice(1, -1))
    }
    from = to
  }
  return `[${parts.join(',')}]`
}

function* objectInSlices(value: object, depth: number): Slices<string> {
  const parts: string[] = []
  let bytes = 0
  for (const [key, member] of Object.entries(value)) {
    const size = estimateSize(member, sliceBytes)
    const text = size > sliceBytes ? yield* jsonInSlices(member, depth + 1) : JSON.stringify(member)
    // JSON omits functions and undefined.
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`)
    bytes += key.length + size
    if (bytes <= sliceBytes) continue
    bytes = 0
    yield
  }
  return `{${parts.join(',')}}`
}

/** Values that define their own JSON are written in one piece. */
function isDivisible(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  return estimateSize(value, sliceBytes) > sliceBytes
}

const sliceBytes = 131_072
const depthMax = 1_100
