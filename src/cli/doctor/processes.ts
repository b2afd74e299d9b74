import type { ProcessRow } from '../../store/process-store.ts'
import type { Diagnosis } from './diagnosis.ts'

/** The processes that serve an installation on PostgreSQL: which there are, and whether they fit together. */
export function examineProcesses(rows: readonly ProcessRow[], now: number): Diagnosis[] {
  const check = 'processes'
  const living = rows.filter(({ isGone }) => !isGone)
  const gone = rows
    .filter(({ isGone }) => isGone)
    .map((row): Diagnosis => {
      const message = `Process ${row.pid} on ${row.host} has given no sign of life since ${timeText(row.heartbeatAt)}.`
      const advice = 'Look at that machine. Other processes take over its work; it may start again at any time.'
      return { check, state: 'warning', message, advice }
    })
  if (living.length === 0) return [{ check, state: 'ok', message: 'No process serves the installation now.' }, ...gone]
  return [{ check, state: 'ok', message: `${listText(living)}.` }, ...examineVersions(living, now), ...gone]
}

/** During an upgrade, versions differ for a while. */
function examineVersions(living: readonly ProcessRow[], now: number): Diagnosis[] {
  const versions = [...new Set(living.map(({ version }) => version))]
  const lastStart = Math.max(...living.map(({ startedAt }) => startedAt))
  if (versions.length < 2 || now - lastStart < upgradeMsMax) return []
  return [
    {
      check: 'processes',
      state: 'warning',
      message: `The processes have had different versions for more than an hour: ${versions.join(', ')}.`,
      advice: 'Complete the upgrade: start every process with the same version.',
    },
  ]
}

function listText(living: readonly ProcessRow[]): string {
  const texts = living.map(({ host, pid, version, isLeader, isDraining }) => {
    const states = [version, ...(isLeader ? ['leader'] : []), ...(isDraining ? ['draining'] : [])]
    return `process ${pid} on ${host} (${states.join(', ')})`
  })
  const [only] = texts
  return texts.length === 1 ? `The installation is served by ${only}` : `${texts.length} processes: ${texts.join('; ')}`
}

function timeText(at: number): string {
  return new Date(at).toISOString()
}

const upgradeMsMax = 3_600_000
