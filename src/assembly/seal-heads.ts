import { sealHeadBytes } from '../accounts/secret-box.ts'
import { registry } from '../blocks/registry.ts'
import { sealHeadsInDocuments } from '../engine/document-secrets.ts'
import type { Store } from '../store/store.ts'

/**
 * The beginnings of stored secrets, which identify their keys. Cheap enough for a start: reads only samples of the
 * kinds of which there may be many, such as documents.
 */
export async function sealHeadsOf(
  store: Pick<Store, 'sealHeads' | 'sampleSealedDocuments'>,
): Promise<readonly Uint8Array[]> {
  const [heads, documents] = await Promise.all([store.sealHeads(sealHeadBytes), store.sampleSealedDocuments()])
  return [...heads, ...sealHeadsInDocuments(documents, registry, sealHeadBytes)]
}
