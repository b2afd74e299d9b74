import { authorizationOf } from '../credentials/authorization.ts'
import { CredentialUses } from '../credentials/credential-uses.ts'
import { Credentials, headerOf, isReady } from '../credentials/credentials.ts'
import { Tokens } from '../credentials/oauth/tokens.ts'
import type { Environment } from '../domain/account/environment.ts'
import { credentialPlacesIn } from '../domain/credential/names-in-document.ts'
import type { OutboundFetch, RequestAuthorization } from '../domain/outbound-request.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import { credentialFindings } from '../engine/compile/credential-findings.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'

/** The credentials of workspaces, and requests with them. */
export type CredentialParts = ReturnType<typeof assembleCredentials>

/** `fetch`: known once the engine is assembled. */
export function assembleCredentials({ store, clock }: Base, { box, environments }: Accounts, fetch: OutboundFetch) {
  const credentials = new Credentials({ store, box, hide: environments.hide, clock })
  const uses = new CredentialUses({ record: (noted) => store.noteCredentialUses(noted), clock })
  const tokens = new Tokens({
    ...{ store, box, fetch, clock, hide: environments.hideLatest },
    redact: async (workspaceId, text) => redactText(text, (await environments.of(workspaceId)).redactor),
  })
  return {
    credentials,
    /** See `Capabilities.credential`. */
    async credentialFor(
      workspaceId: string,
      name: string,
      { values }: Environment,
    ): Promise<RequestAuthorization | undefined> {
      const credential = await credentials.find(workspaceId, name, values)
      return credential && authorizationOf(credential, { tokens, clock, used: uses.note })
    },
    /** Reads the credentials only when the document names one. */
    async findingsAbout(document: WorkflowDocument, workspaceId: string): Promise<Finding[]> {
      if (credentialPlacesIn(document).length === 0) return []
      const listed = await credentials.list(workspaceId)
      const known = new Map(
        listed.map((each) => [each.row.name, { isReady: isReady(each), header: headerOf(each.row) }] as const),
      )
      return credentialFindings(document, known)
    },
    stop() {
      tokens.stop()
      return uses.stop()
    },
  }
}
