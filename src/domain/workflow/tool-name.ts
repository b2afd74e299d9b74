// Workflows that are tools of MCP clients. This file has no schemas, so that the editor stays small.

export const toolNameCharsMax = 64

/** A name that an author may choose. */
export const toolNamePattern = '^[A-Za-z0-9_-]+$'

/** The name of a workflow as a name of a tool: lower-case letters, digits and underscores. */
export function toolNameOf(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return words.join('_').slice(0, toolNameCharsMax).replace(/_$/, '') || 'workflow'
}

/** Whether a document has the trigger at which calls of tools start. */
export function hasToolTrigger({ blocks }: { blocks: Readonly<Record<string, Trigger>> }): boolean {
  return Object.values(blocks).some(({ type, enabled }) => type === 'api_trigger' && enabled !== false)
}

type Trigger = { type: string; enabled?: boolean | undefined }
