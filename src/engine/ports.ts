import { type BlockDefinition, idsOf, type Outputs } from './block.ts'

/** The handles of a block for outgoing edges, without `error`. */
export function portsOf(
  { branches, ports }: BlockDefinition,
  params: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (!branches) return ['source', ...(ports?.ahead === undefined ? [] : [ports.ahead]), ...(ports?.others ?? [])]
  const { list, prefix, otherwise } = branches
  const ids = idsOf(params[list])
  return (otherwise === undefined ? ids : [...ids, otherwise]).map((id) => prefix + id)
}

/** The handle that the run left a block by, according to the block's outputs. */
export function portLeftBy({ branches }: BlockDefinition, outputs: Outputs): string | null {
  if (!branches) return 'source'
  const id = outputs[branches.output]
  return typeof id === 'string' ? branches.prefix + id : null
}
