import { openSecretBox, type SecretBox } from '../../accounts/secret-box.ts'
import { sealHeadsOf } from '../../assembly/seal-heads.ts'
import type { Config } from '../../config.ts'
import type { Store } from '../../store/store.ts'
import { CommandError, UsageError } from '../command.ts'

/** The keys of stored secrets. */
export function boxOf(store: Store, { data, secretKey }: Config): Promise<SecretBox> {
  return openSecretBox({ directory: data, secretKey, sealHeads: () => sealHeadsOf(store) })
}

/** The ID of a workspace that a command names; it may name none if there is only one. */
export async function workspaceOf(store: Store, named: string | undefined): Promise<string> {
  const all = await store.listWorkspaces(null)
  const found = named === undefined ? all : all.filter(({ id }) => id === named)
  const [first, second] = found
  if (first && !second) return first.id
  const hint = 'List all workspaces: millrace workspaces list'
  if (named !== undefined) throw new CommandError(`Unknown workspace ${named}.`, hint)
  throw new UsageError('There are several workspaces. Name one with --workspace ID.', hint)
}
