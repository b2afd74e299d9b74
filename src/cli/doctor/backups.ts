import { readInstallationId } from '../../backup/installation-id.ts'
import { type Config, durationText } from '../../config.ts'
import { bucketAddressOf, bucketError, openBucket } from '../backups/bucket.ts'
import { roundSize } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'

/** Checks whether the bucket of the scheduled backups can be read, and how old this installation's newest backup is. */
export async function examineBackups(target: string, config: Config, now: number): Promise<Diagnosis> {
  const check = 'backups'
  const address = bucketAddressOf(target)
  try {
    const bucket = await openBucket(address, config)
    const installation = await readInstallationId(config.data)
    const own = (await bucket.list()).filter((stored) => stored.installation === installation)
    const [newest] = own
    if (!newest || installation === undefined) {
      const advice = 'The service makes the first one shortly after its start.'
      return { check, state: 'warning', message: `There is no backup of this installation in ${target} yet.`, advice }
    }
    const minutes = Math.round((now - newest.at) / 60_000)
    const message = `The newest backup in ${target} is ${minutes} min old (${roundSize(newest.bytes)}).`
    if (now - newest.at <= 2 * config.backupEvery) {
      // One more is there while a scheduled backup ends.
      if (own.length <= config.backupKeep + 1) return { check, state: 'ok', message }
      const many = `${message} There are ${own.length} instead of ${config.backupKeep} (MILLRACE_BACKUP_KEEP).`
      const advice = 'The next scheduled backup deletes the oldest. If it does not, its log line says why.'
      return { check, state: 'warning', message: many, advice }
    }
    const every = durationText(config.backupEvery)
    const advice = `Backups are due every ${every}. Start the service, or read its log for "the scheduled backup failed".`
    return { check, state: 'broken', message, advice }
  } catch (error) {
    const { message, hint } = bucketError(address, error)
    return { check, state: 'broken', message, ...(hint === undefined ? {} : { advice: hint }) }
  }
}
