import { statSync } from 'node:fs'
import { keyPath, readKeyFile } from '../../accounts/key-file.ts'
import { SecretBox, sealHeadBytes } from '../../accounts/secret-box.ts'
import { registry } from '../../blocks/registry.ts'
import type { Config } from '../../config.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { sealHeadsInDocuments } from '../../engine/document-secrets.ts'
import { databasePath } from '../../store/sqlite/open.ts'
import {
  allSealedDocumentsIn,
  countSealedOtherwiseIn,
  sealedDocumentsIn,
  sealHeadsIn,
} from '../../store/sqlite/upkeep/inspect.ts'
import { count } from '../support/size.ts'
import type { Diagnosis } from './diagnosis.ts'

/** Whether the current keys can decrypt the encrypted data in the database, and whether it still needs older keys. */
export function examineKey(folder: string, { secretKey }: Config): Diagnosis {
  const check = 'key'
  const path = keyPath(folder)
  try {
    const inFile = readKeyFile(folder).length
    const heads = sealHeadsIn(databasePath(folder), sealHeadBytes)
    const inDocuments = sealHeadsInDocuments(sealedDocumentsIn(databasePath(folder)), registry, sealHeadBytes)
    const box = new SecretBox([], { directory: folder, secretKey, heads: [...heads, ...inDocuments] })
    const different = differentKey(box, heads, inDocuments)
    if (different) {
      const isMissing = inFile === 0 && secretKey === undefined && different.isOfValue
      const message = isMissing
        ? `The database contains secrets, but their key is missing: ${path} does not exist.`
        : different.message
      const advice = `Restore the key file from a backup, or add the earlier key to MILLRACE_SECRET_KEY. ${different.lost}`
      return { check, state: 'broken', message, advice }
    }
    if (inFile > 0 && (statSync(path).mode & 0o077) !== 0) {
      const message = `Other users of the machine can read ${path}.`
      return { check, state: 'warning', message, advice: `chmod 600 ${path}` }
    }
    const older = countOlder(folder, box)
    if (older > 0) return olderKeyNeeded(older)
    const where = secretKey === undefined ? path : 'MILLRACE_SECRET_KEY'
    const message =
      heads.length + inDocuments.length === 0
        ? 'No secret is stored yet.'
        : `Stored secrets can be decrypted: the key is in ${where}.`
    return { check, state: 'ok', message }
  } catch (error) {
    const isSetting = error instanceof AppError && error.code === 'INVALID_INPUT'
    const advice = isSetting ? 'Correct MILLRACE_SECRET_KEY.' : 'Restore the key file from a backup.'
    return { check, state: 'broken', message: messageOf(error), advice }
  }
}

/** Whether a secret needs a key that the box does not have. `lost`: what to do if nobody has it. */
export function differentKey(
  box: SecretBox,
  heads: readonly Uint8Array[],
  inDocuments: readonly Uint8Array[],
): { isOfValue: boolean; message: string; lost: string } | undefined {
  if (!heads.every((head) => box.knows(head))) {
    return {
      isOfValue: true,
      message: 'The database contains secrets that were encrypted with a different key.',
      lost: 'If the key is lost permanently, millrace env discard removes the values, so that you can set them again.',
    }
  }
  if (inDocuments.every((head) => box.knows(head))) return undefined
  return {
    isOfValue: false,
    message: 'Workflows contain secrets that were encrypted with a different key. The service does not start.',
    lost:
      'If the key is lost permanently, millrace env discard empties the values, so that you can write them in the ' +
      'editor again.',
  }
}

/** `older`: how many stored secrets the current key did not encrypt. */
export function olderKeyNeeded(older: number): Diagnosis {
  return {
    check: 'key',
    state: 'warning',
    message: `Stored secrets can be decrypted, but an older key encrypted ${count(older, 'of them', 'of them')}.`,
    advice: 'Run millrace env rotate. Only then can the older keys be removed.',
  }
}

/** The stored values, and documents with secrets, that the current key did not encrypt. */
function countOlder(folder: string, box: SecretBox): number {
  const head = box.currentHead
  if (!head) return 0
  let older = countSealedOtherwiseIn(databasePath(folder), head)
  for (const text of allSealedDocumentsIn(databasePath(folder))) {
    if (!sealHeadsInDocuments([text], registry, sealHeadBytes).every((each) => box.isCurrent(each))) older += 1
  }
  return older
}
