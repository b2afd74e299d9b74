/** The place of a run in a distributed trace, as a caller announces it. IDs are lower-case hex digits. */
export type TraceParent = { readonly traceId: string; readonly parentId: string; readonly sampled: boolean }

/** The IDs of a run and of its spans in a distributed trace. */
export type TraceIds = {
  readonly traceId: string
  /** The ID of a span. It depends only on the execution ID and on the ID of the span in its run. */
  spanId(span: { id: string }): string
}

/** Reads a `traceparent` header (W3C Trace Context). By the standard, an invalid one counts as absent. */
export function readTraceParent(header: string | null | undefined): TraceParent | undefined {
  if (!header) return undefined
  const [, version, traceId = '', parentId = '', flags = '', more] = headerPattern.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (isZero(traceId) || isZero(parentId)) return undefined
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 }
}

export function traceParentText({ traceId, parentId, sampled }: TraceParent): string {
  return `00-${traceId}-${parentId}-${sampled ? '01' : '00'}`
}

/** The trace of a caller, or else one of the run's own: its ID consists of the digits of the execution ID. */
export function traceIdOf(executionId: string, parent?: TraceParent): string {
  return parent?.traceId ?? digitsOf(executionId)
}

export function traceIdsOf(executionId: string, parent?: TraceParent): TraceIds {
  // Always from the execution ID: several runs may belong to the trace of one caller.
  const base = BigInt(`0x${digitsOf(executionId).slice(16)}`)
  return {
    traceId: traceIdOf(executionId, parent),
    spanId: ({ id }) => {
      const mixed = (base + BigInt(id.slice(1)) * oddFactor) & mask
      return (mixed === 0n ? oddFactor : mixed).toString(16).padStart(16, '0')
    },
  }
}

function digitsOf(executionId: string): string {
  const digits = executionId.replaceAll('-', '').toLowerCase()
  if (/^[0-9a-f]{32}$/.test(digits) && !isZero(digits)) return digits
  return new Bun.CryptoHasher('sha256').update(executionId).digest('hex').slice(0, 32)
}

const headerPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1
const isZero = (digits: string) => /^0+$/.test(digits)

/** Because it is odd, the spans of a run have different IDs; because it is large, those of two runs do not overlap. */
const oddFactor = 0x9e3779b97f4a7c15n
const mask = 0xffff_ffff_ffff_ffffn
