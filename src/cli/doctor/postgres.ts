import { SecretBox, sealHeadBytes } from '../../accounts/secret-box.ts'
import { registry } from '../../blocks/registry.ts'
import type { Config } from '../../config.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { sealHeadsInDocuments } from '../../engine/document-secrets.ts'
import { countOlderSeals, inspectServer, type ServerInspection } from '../../store/postgres/upkeep/inspect.ts'
import { placeOf } from '../installation/open-store.ts'
import { roundSize } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'
import { differentKey, olderKeyNeeded } from './key.ts'
import { examineProcesses } from './processes.ts'
import { examineSchedules } from './schedules.ts'
import { examineWebhooks, failedSince } from './webhooks.ts'

/** The checks of an installation on PostgreSQL. */
export async function examinePostgres(config: Config, now: number): Promise<Diagnosis[]> {
  try {
    const found = await inspectServer(config.store, { headBytes: sealHeadBytes, failedSince: failedSince(now) })
    const isServed = found.processes.some(({ isGone }) => !isGone)
    return [
      examineSchema(found, config),
      ...(found.schemaVersion === 0 ? [] : examineProcesses(found.processes, now)),
      await examineSecretKey(found, config),
      ...examineWebhooks(found.outbox, now),
      ...examineSchedules(found.schedules, now, isServed),
      examineServerClock(found),
    ]
  } catch (error) {
    const advice = 'Check MILLRACE_STORE and the PostgreSQL server. The service does not start without it.'
    return [{ check: 'database', state: 'broken', message: messageOf(error), advice }]
  }
}

function examineSchema(
  { version, schemaVersion, knownVersion, bytes, roundTripMs }: ServerInspection,
  config: Config,
): Diagnosis {
  const check = 'database'
  const place = placeOf(config)
  if (schemaVersion === 0) {
    const advice = 'millrace serve creates it at its first start, and millrace init without starting.'
    return { check, state: 'warning', message: `There is no installation in ${place} yet.`, advice }
  }
  if (schemaVersion > knownVersion) {
    return {
      check,
      state: 'broken',
      message: `A newer version of Millrace has changed the schema (${schemaVersion}; this one knows ${knownVersion}).`,
      advice: 'Use that version, or a newer one.',
    }
  }
  const size = `PostgreSQL ${version}, schema ${schemaVersion}, ${roundSize(bytes)}`
  const message = `The installation in ${place} can be used (${size}, ${roundTripMs.toFixed(1)} ms per statement).`
  if (roundTripMs <= slowMs) return { check, state: 'ok', message }
  const advice = 'Every run waits for the database. Run the service in the same network as PostgreSQL.'
  return { check, state: 'warning', message, advice }
}

function examineServerClock({ clockAheadMs }: ServerInspection): Diagnosis {
  const check = 'clock'
  const seconds = Math.round(Math.abs(clockAheadMs) / 1_000)
  if (Math.abs(clockAheadMs) <= clockSlackMs) {
    return { check, state: 'ok', message: 'The clocks of this machine and of the PostgreSQL server agree.' }
  }
  const direction = clockAheadMs > 0 ? 'ahead of' : 'behind'
  return {
    check,
    state: 'warning',
    message: `The clock of this machine is ${seconds} s ${direction} the clock of the PostgreSQL server.`,
    advice: 'Keep all clocks synchronised (NTP). Times in the log and the order of its entries depend on them.',
  }
}

async function examineSecretKey({ sealed }: ServerInspection, { store, secretKey, data }: Config): Promise<Diagnosis> {
  const check = 'key'
  if (secretKey === undefined) {
    const advice = 'Set it to the same text of at least 32 characters for every process.'
    return { check, state: 'broken', message: 'MILLRACE_SECRET_KEY is not set. The service does not start.', advice }
  }
  try {
    const inDocuments = sealHeadsInDocuments(sealed.documents, registry, sealHeadBytes)
    const heads = [...sealed.heads, ...inDocuments]
    const box = new SecretBox([], { directory: data, secretKey, heads })
    const different = differentKey(box, sealed.heads, inDocuments)
    if (different) {
      const advice = `Add the earlier key to MILLRACE_SECRET_KEY, after the current one and a comma. ${different.lost}`
      return { check, state: 'broken', message: different.message, advice }
    }
    const isCurrent = (text: string) =>
      sealHeadsInDocuments([text], registry, sealHeadBytes).every((head) => box.isCurrent(head))
    const older = heads.length > 0 && box.currentHead ? await countOlderSeals(store, box.currentHead, isCurrent) : 0
    if (older > 0) return olderKeyNeeded(older)
    const message = 'Stored secrets can be decrypted: the key is in MILLRACE_SECRET_KEY.'
    return { check, state: 'ok', message: heads.length === 0 ? 'No secret is stored yet.' : message }
  } catch (error) {
    const advice = error instanceof AppError && error.code === 'INVALID_INPUT' ? 'Correct MILLRACE_SECRET_KEY.' : ''
    return { check, state: 'broken', message: messageOf(error), ...(advice && { advice }) }
  }
}

/** Beyond this, the database is not in the same network. */
const slowMs = 5
const clockSlackMs = 2_000
