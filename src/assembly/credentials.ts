import { storeKindOf } from '../config.ts'
import { authorizationOf } from '../credentials/authorization.ts'
import { CredentialUses } from '../credentials/credential-uses.ts'
import { Credentials, headerOf, isReady } from '../credentials/credentials.ts'
import { SignIns } from '../credentials/oauth/sign-ins.ts'
import { Tokens } from '../credentials/oauth/tokens.ts'
import type { Environment } from '../domain/account/environment.ts'
import { needsToken } from '../domain/credential/kinds.ts'
import { credentialPlacesIn } from '../domain/credential/names-in-document.ts'
import { newId } from '../domain/ids.ts'
import type { OutboundFetch, RequestAuthorization } from '../domain/outbound-request.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow/workflow.ts'
import { credentialFindings } from '../engine/compile/credential-findings.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'

/** The credentials of workspaces, and requests with them. */
export type CredentialParts = ReturnType<typeof assembleCredentials>

export type CredentialsAssembly = {
  accounts: Accounts
  /** Known once the engine is assembled. */
  fetch: OutboundFetch
  /** The address at which browsers reach the service, if that is known. */
  publicUrl(): string | undefined
}

export function assembleCredentials({ store, clock, config }: Base, assembly: CredentialsAssembly) {
  const { accounts, fetch, publicUrl } = assembly
  const { box, environments } = accounts
  const redact = async (workspaceId: string, text: string) => {
    return redactText(text, (await environments.of(workspaceId)).redactor)
  }
  const credentials = new Credentials({ store, box, hide: environments.hide, clock })
  const uses = new CredentialUses({ record: (noted) => store.noteCredentialUses(noted), clock })
  const tokens = new Tokens({
    ...{ store, box, fetch, clock, redact, hide: environments.hideLatest },
    owner: storeKindOf(config) === 'sqlite' ? 'service' : newId(),
  })
  const find = async (workspaceId: string, name: string) =>
    await credentials.find(workspaceId, name, (await environments.of(workspaceId)).values)
  const signIns = new SignIns({ ...{ find, box, fetch, redact, clock }, tokens, baseUrl: publicUrl })
  return {
    credentials,
    signIns,
    /** A credential with its secrets, for connections of other protocols than HTTP. See `Credentials.find`. */
    find: (workspaceId: string, name: string, values: Environment['values']) =>
      credentials.find(workspaceId, name, values),
    tokens,
    used: uses.note,
    /** Gets a token if the credential needs one. */
    async prepare(workspaceId: string, name: string): Promise<void> {
      const credential = await find(workspaceId, name)
      if (credential && needsToken(credential.kind)) await tokens.tokenOf(credential)
    },
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
      signIns.stop()
      tokens.stop()
      return uses.stop()
    },
  }
}
