import { isObject } from '../../domain/run/input.ts'
import { parseJson } from './sim-values.ts'

/** Sub-blocks whose values the mappers convert: to a name without its prefix, a cron expression, a duration. */
const converted = new Set([
  ...['model', 'method', 'language', 'dataMode', 'startWorkflow', 'requireAuth', 'memoryType', 'status', 'timeout'],
  ...['scheduleType', 'minutesInterval', 'hourlyMinute', 'dailyTime', 'weeklyDay', 'weeklyDayTime', 'monthlyDay'],
  ...['monthlyTime', 'scheduleTime', 'timezone', 'timeValue', 'timeUnit', 'timeUnitLong', 'async', 'maxTokens'],
])

/** Members that only Sim's editor uses, and members that the mappers convert. */
const ignored = new Set(['id', 'type', 'role', 'collapsed', 'isExpanded', 'showTags', 'showEnvVars'])

const usualTitle = /^\s*(?:if|else if|else|route \d+)\s*$/i

/**
 * The sub-blocks with texts that do not occur in the mapper's result. To take linear time, it finds a text only if it
 * is a whole value, a line, or the name or value of a line.
 */
export function lostValues(values: ReadonlyMap<string, unknown>, found: unknown): [id: string, value: unknown][] {
  let known: Set<string> | undefined
  return [...values].filter(([id, value]) => {
    if (converted.has(id)) return false
    for (const text of textsIn(value)) {
      if (text.trim() === '' || usualTitle.test(text)) continue
      known ??= partsOf(found)
      if (!known.has(text.trim())) return true
    }
    return false
  })
}

function partsOf(value: unknown): Set<string> {
  const parts = new Set<string>()
  for (const text of textsIn(value, true)) {
    parts.add(text.trim())
    for (const line of text.split('\n')) {
      parts.add(line.trim())
      const at = line.indexOf(': ')
      if (at !== -1) parts.add(line.slice(0, at).trim()).add(line.slice(at + 2).trim())
    }
  }
  return parts
}

/** All texts, numbers and booleans in a value, and in JSON inside its texts. `isOurs`: names of members too. */
function* textsIn(value: unknown, isOurs = false): Generator<string> {
  if (typeof value === 'number' || typeof value === 'boolean') {
    if (isOurs || typeof value === 'number') yield String(value)
  } else if (typeof value === 'string') {
    const inner = /^\s*[[{]/.test(value) ? parseJson(value) : undefined
    if (typeof inner === 'object' && inner !== null) yield* textsIn(inner, isOurs)
    else yield value
    if (isOurs) yield value
  } else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, isOurs)
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (isOurs) yield name
      if (isOurs || !ignored.has(name)) yield* textsIn(member, isOurs)
    }
  }
}
