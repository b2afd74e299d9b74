import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import { readBackupRecord, writeBackupRecord } from '../backup/backup-record.ts'
import { type MadeBackup, ScheduledBackups } from '../backup/scheduled-backups.ts'
import { type Config, environmentWith, ownProgram } from '../config.ts'
import type { Base } from './base.ts'

/** The scheduled backups; undefined when MILLRACE_BACKUP is not set. */
export function backupsOf({ config, clock, logger, events }: Base): ScheduledBackups | undefined {
  const { backup: address } = config
  if (address === undefined) return undefined
  const data = resolve(config.data)
  return new ScheduledBackups({
    make: (signal) => runBackup(address, config, signal),
    read: () => readBackupRecord(data, address),
    write: (record) => writeBackupRecord(data, address, record),
    everyMs: config.backupEvery,
    clock,
    onFailure(reason) {
      logger.error('the scheduled backup failed', { address, reason })
      events.backupFailed()
    },
    onPruneFailure: (reason) => logger.warn('old backups could not be deleted', { address, reason }),
  })
}

/**
 * Runs `millrace backup` in a process of its own with a lower priority, so that a backup delays no run and its memory
 * is free afterwards.
 */
async function runBackup(address: string, config: Config, signal: AbortSignal): Promise<MadeBackup> {
  const child = Bun.spawn([...ownProgram(), 'backup', address, '--prune', '--json'], {
    env: environmentWith(settingsFor(config)),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
    killSignal: 'SIGTERM',
  })
  try {
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It may have ended, or the system does not allow it.
  }
  const [code, out, errors] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (code !== 0) throw new Error(errors.trim().slice(-errorCharsMax) || `The process ended with code ${code}`)
  return JSON.parse(out) as MadeBackup
}

/** The settings that a flag or a file may have set in this process. */
function settingsFor(config: Config): Record<string, string> {
  const { data, backupKeep, s3Endpoint, s3Region, s3ForcePathStyle } = config
  return {
    MILLRACE_DATA: resolve(data),
    MILLRACE_BACKUP_KEEP: String(backupKeep),
    MILLRACE_S3_ENDPOINT: s3Endpoint ?? '',
    MILLRACE_S3_REGION: s3Region ?? '',
    MILLRACE_S3_FORCE_PATH_STYLE: String(s3ForcePathStyle),
  }
}

const errorCharsMax = 1_000
