/** The place of a run in a distributed trace, as a caller announces it. IDs are lower-case hex digits. */
export type TraceParent = {
  readonly traceId: string
  readonly parentId: string
  readonly sampled: boolean
  /** Data of the caller's tracing systems, which is only passed on. */
  readonly state?: string
}

/** The IDs of a run and of its spans in a distributed trace. */
export type TraceIds = {
  readonly traceId: string
  /** The ID of a span. It depends only on the execution ID and on the ID of the span in its run. */
  spanId(span: { id: string }): string
}

/**
 * Reads the headers `traceparent` and `tracestate` (W3C Trace Context). By the standard, an invalid one counts as
 * absent.
 */
export function readTraceParent(
  header: string | null | undefined,
  stateHeader?: string | null,
): TraceParent | undefined {
  if (!header) return undefined
  const [, version, traceId = '', parentId = '', flags = '', more] = headerPattern.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (isZero(traceId) || isZero(parentId)) return undefined
  const state = readState(stateHeader)
  const sampled = (Number.parseInt(flags, 16) & sampledFlag) !== 0
  return { traceId, parentId, sampled, ...(state === undefined ? {} : { state }) }
}

/** The headers of a request that belongs to a span. */
export function traceHeaders(place: TraceParent): [name: string, value: string][] {
  const { state } = place
  return [
    ['traceparent', traceParentText(place)],
    ...(state === undefined ? [] : [['tracestate', state] as [string, string]]),
  ]
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

/** Undefined unless every member of the list is valid. A longer list than every service must accept is not kept. */
function readState(header: string | null | undefined): string | undefined {
  if (!header || header.length > stateCharsMax) return undefined
  const members = header.split(',').flatMap((member) => member.replace(/^[ \t]+|[ \t]+$/g, '') || [])
  if (members.length === 0 || members.length > stateMembersMax || !members.every(isStateMember)) return undefined
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))))
  return keys.size === members.length ? members.join(',') : undefined
}

function digitsOf(executionId: string): string {
  const digits = executionId.replaceAll('-', '').toLowerCase()
  if (/^[0-9a-f]{32}$/.test(digits) && !isZero(digits)) return digits
  return new Bun.CryptoHasher('sha256').update(executionId).digest('hex').slice(0, 32)
}

const headerPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1
const isStateMember = (member: string) => /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/.test(member)
const stateMembersMax = 32
const stateCharsMax = 512
const isZero = (digits: string) => /^0+$/.test(digits)

/** An odd factor gives the spans of a run different IDs. A large one keeps the IDs of two runs apart. */
const oddFactor = 0x9e3779b97f4a7c15n
const mask = 0xffff_ffff_ffff_ffffn
