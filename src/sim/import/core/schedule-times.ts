import type { SimValues } from '../sim-values.ts'

/** Our parameters for the times of a schedule. */
export function scheduleParameters(values: SimValues): { params: Record<string, unknown>; notes: string[] } {
  const kind = values.text('scheduleType') ?? (values.peek('cronExpression') === undefined ? 'daily' : 'custom')
  const notes: string[] = []
  const timezone = values.text('timezone')
  const zone = timezone === undefined ? {} : { timezone }
  const cronOf = () => {
    switch (kind) {
      case 'hourly':
        return `${minuteOf(values.text('hourlyMinute'))} * * * *`
      case 'daily':
        return `${timeOf(values.text('dailyTime') ?? values.text('scheduleTime'))} * * *`
      case 'weekly': {
        const time = timeOf(values.text('weeklyDayTime') ?? values.text('scheduleTime'))
        return `${time} * * ${(values.text('weeklyDay') ?? 'MON').slice(0, 3).toUpperCase()}`
      }
      case 'monthly': {
        const day = values.text('monthlyDay') ?? '1'
        return `${timeOf(values.text('monthlyTime') ?? values.text('scheduleTime'))} ${day.trim()} * *`
      }
      default:
        return values.text('cronExpression')
    }
  }
  if (kind === 'minutes') {
    const minutes = values.number('minutesInterval') ?? 15
    // A cron expression starts again at each full hour, so it is correct only if the interval divides an hour.
    const isCron = Number.isInteger(minutes) && minutes > 0 && minutes < 60 && 60 % minutes === 0
    if (isCron) return { params: { cron: minutes === 1 ? '* * * * *' : `*/${minutes} * * * *`, ...zone }, notes }
    return { params: { intervalMs: Math.round(minutes * 60_000), ...zone }, notes }
  }
  const cron = cronOf()
  if (cron === undefined) notes.push('The file has no times for this schedule. Enter a cron expression.')
  return { params: { ...(cron === undefined ? {} : { cron }), ...zone }, notes }
}

function minuteOf(text: string | undefined): string {
  return text?.trim() || '0'
}

/** `09:30` → `30 9`; nine o'clock is Sim's own default. Another text stays, so that the check of the cron names it. */
function timeOf(text = '09:00'): string {
  const found = /^\s*(\d{1,2})(?::(\d{2}))?\s*([ap]m)?/i.exec(text)
  if (!found) return text.trim()
  const [, hour, minute = '0', half] = found
  const on12 = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  return `${Number(minute)} ${on12}`
}
