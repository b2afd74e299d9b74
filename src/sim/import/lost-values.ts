import { isObject } from '../../domain/run/input.ts'
import { parseJson } from './sim-values.ts'

/** Sub-blocks whose values become something else: a name without its prefix, a cron expression, a duration. */
const converted = new Set([
  ...['model', 'method', 'language', 'dataMode', 'startWorkflow', 'requireAuth', 'memoryType', 'status', 'timeout'],
  ...['scheduleType', 'minutesInterval', 'hourlyMinute', 'dailyTime', 'weeklyDay', 'weeklyDayTime', 'monthlyDay'],
  ...['monthlyTime', 'scheduleTime', 'timezone', 'timeValue', 'timeUnit', 'timeUnitLong', 'async', 'maxTokens'],
])

/** Members that only Sim's editor needs, and those that become something else. */
const uninteresting = new Set(['id', 'type', 'role', 'collapsed', 'isExpanded', 'showTags', 'showEnvVars'])

const usualTitle = /^\s*(?:if|else if|else|route \d+)\s*$/i

/**
 * The sub-blocks with texts that are not in the parts that a mapper made of them. It is in linear time, so it finds a
 * text only if it is a whole value, a line, or the name or value of a line.
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

/** All texts, numbers and truth values in a value, and in JSON inside its texts. `isOurs`: names of members too. */
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
      if (isOurs || !uninteresting.has(name)) yield* textsIn(member, isOurs)
    }
  }
}
