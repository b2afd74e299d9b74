import type { WorkflowDocument } from '../workflow/workflow.ts'

/** A place of a document that names a credential. `path`: of the parameter in the block. */
export type CredentialPlace = { blockId: string; path: string; name: string }

/** The places of a document that name credentials: parameters of blocks, and of the tools of agents. */
export function credentialPlacesIn({ blocks }: Pick<WorkflowDocument, 'blocks'>): CredentialPlace[] {
  return Object.values(blocks).flatMap(({ id, params = {}, enabled }) => {
    // A disabled block does not read its parameters.
    if (enabled === false) return []
    const { tools } = params
    const ofTools = (Array.isArray(tools) ? tools : []).flatMap((tool: unknown, index) => {
      const members = membersOf(tool)
      // The parameters of an operation are the operation's own, and may have any name.
      if (ownCredential.has(members['type'])) return placesIn(members, id, `tools.${index}.`)
      return placesIn(membersOf(members['params']), id, `tools.${index}.params.`)
    })
    // The request of a poll.
    return [...placesIn(params, id, ''), ...placesIn(membersOf(params['request']), id, 'request.'), ...ofTools]
  })
}

/** The types of tools that name their credential beside `params`. */
const ownCredential: ReadonlySet<unknown> = new Set(['operation', 'mcp', 'email', 'sql'])

function placesIn({ credential }: Readonly<Record<string, unknown>>, blockId: string, prefix: string) {
  const isNamed = typeof credential === 'string' && credential !== ''
  return isNamed ? [{ blockId, path: `${prefix}credential`, name: credential }] : []
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
