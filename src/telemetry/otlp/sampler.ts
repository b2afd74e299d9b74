import type { TraceParent } from '../../domain/trace-context.ts'

/** Decides whether a trace is exported. `parent`: what the caller announced. */
export type Sampler = (traceId: string, parent: TraceParent | undefined) => boolean

/** The sampler of a name in `OTEL_TRACES_SAMPLER`. An invalid value is reported and ignored. */
export function samplerOf(
  name: string | undefined,
  argument: string | undefined,
  warn: (message: string) => void,
): Sampler {
  switch (name) {
    case undefined:
    case 'parentbased_always_on':
      return parentBased(always)
    case 'always_on':
      return always
    case 'always_off':
      return never
    case 'traceidratio':
      return byRatio(ratioOf(argument, warn))
    case 'parentbased_always_off':
      return parentBased(never)
    case 'parentbased_traceidratio':
      return parentBased(byRatio(ratioOf(argument, warn)))
    default:
      warn(`OTEL_TRACES_SAMPLER: the sampler "${name}" is not supported; parentbased_always_on is used.`)
      return parentBased(always)
  }
}

const always: Sampler = () => true
const never: Sampler = () => false

function parentBased(root: Sampler): Sampler {
  return (traceId, parent) => parent?.sampled ?? root(traceId, parent)
}

/**
 * Decides by the last 56 bits of the trace ID, which are random in an execution ID, too: all services that apply this
 * rule decide alike. See "TraceState: Probability Sampling" in the OpenTelemetry specification.
 */
function byRatio(ratio: number): Sampler {
  const threshold = Math.round((1 - ratio) * randomMax)
  return (traceId) => Number.parseInt(traceId.slice(-randomDigits, -1), 16) >= threshold
}

function ratioOf(argument: string | undefined, warn: (message: string) => void): number {
  if (argument === undefined) return 1
  const ratio = Number(argument)
  if (ratio >= 0 && ratio <= 1) return ratio
  warn('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; 1 is used.')
  return 1
}

/** 56 bits. A number holds the first 13 of these 14 digits exactly. */
const randomDigits = 14
const randomMax = 16 ** (randomDigits - 1)
