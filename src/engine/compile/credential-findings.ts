import { credentialPlacesIn } from '../../domain/credential/names-in-document.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Finding, WorkflowDocument } from '../../domain/workflow/workflow.ts'

/** `header`: the name of the header that it sets, if it sets one. */
export type CredentialFacts = { isReady: boolean; header: string | undefined }

/** The findings about the credentials that a document names. `known`: the credentials of its workspace. */
export function credentialFindings(
  { blocks }: Pick<WorkflowDocument, 'blocks'>,
  known: ReadonlyMap<string, CredentialFacts>,
): Finding[] {
  return credentialPlacesIn({ blocks }).flatMap(({ blockId, path, name }): Finding[] => {
    // The name comes from a variable, whose value may change until the run.
    if (name.includes('{{')) return []
    const place = { path: `blocks.${blockId}.params.${path}`, blockId, blockName: blocks[blockId]?.name ?? null }
    const facts = known.get(name)
    if (!facts) {
      const message = `The workspace has no credential "${name.slice(0, 100)}". Create it, or correct the name.`
      return [{ level: 'error', code: 'UNKNOWN_CREDENTIAL', message, ...place }]
    }
    if (!facts.isReady) {
      const message = `The credential "${name}" cannot be used yet: its secrets are missing, or somebody must sign in.`
      return [{ level: 'warning', code: 'CREDENTIAL_NOT_READY', message, ...place }]
    }
    if (path !== 'credential' || !setsHeader(blocks[blockId]?.params?.['headers'], facts.header)) return []
    const message = `The credential "${name}" replaces the header ${facts.header} of "${place.blockName}". Remove one of them.`
    return [{ level: 'warning', code: 'CREDENTIAL_OVERRIDES', message, ...place }]
  })
}

/** `headers`: of an API block. */
function setsHeader(headers: unknown, name: string | undefined): boolean {
  if (name === undefined || !Array.isArray(headers)) return false
  return headers.some((each: unknown) => isObject(each) && String(each['key']).toLowerCase() === name.toLowerCase())
}
