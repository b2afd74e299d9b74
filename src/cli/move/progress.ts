import type { MoveProgress } from '../../store/move/move.ts'

/** Says now and then how far a long table is. */
export function progressLines(say: (line: string) => void, now = () => performance.now()) {
  let saidAt = now()
  let began: (MoveProgress & { at: number }) | undefined
  return (progress: MoveProgress): void => {
    const { kind, table, rows, count } = progress
    const at = now()
    if (began?.table !== table || began.kind !== kind) began = { ...progress, at }
    if (at - saidAt < everyMs) return
    saidAt = at
    const perSecond = (1000 * (rows - began.rows)) / Math.max(1, at - began.at)
    const left = perSecond > 0 ? `, ${timeText((count - rows) / perSecond)} left` : ''
    const done = kind === 'copy' ? 'copied' : 'compared'
    say(`${table}: ${numbers.format(rows)} of ${numbers.format(count)} rows ${done}${left}`)
  }
}

const everyMs = 5_000
const numbers = new Intl.NumberFormat('en')

function timeText(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
