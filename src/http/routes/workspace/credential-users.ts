import { credentialPlacesIn } from '../../../domain/credential/names-in-document.ts'
import type { Store } from '../../../store/store.ts'
import type { UsedBy } from './credential-schemas.ts'

type Workflows = Pick<Store, 'listWorkflows' | 'getDocument'>

/** The workflows of a workspace that name each credential, in their draft or their active version. */
export async function credentialUsers(store: Workflows, workspaceId: string): Promise<(name: string) => UsedBy> {
  const users = new Map<string, Map<string, string>>()
  for (const { id, document, activeVersion, hasChanges } of await store.listWorkflows(workspaceId)) {
    const active = activeVersion !== null && hasChanges ? await store.getDocument(id, activeVersion) : undefined
    for (const { name } of [document, active].flatMap((each) => (each ? credentialPlacesIn(each) : []))) {
      const workflows = users.get(name) ?? new Map<string, string>()
      users.set(name, workflows.set(id, document.name))
    }
  }
  return (name) => [...(users.get(name) ?? [])].map(([workflowId, workflow]) => ({ workflowId, name: workflow }))
}

/** The names of the workflows whose active version names a credential. */
export async function deployedUsers(store: Workflows, workspaceId: string, credential: string): Promise<string[]> {
  const names: string[] = []
  for (const { id, document, activeVersion, hasChanges } of await store.listWorkflows(workspaceId)) {
    if (activeVersion === null) continue
    const active = hasChanges ? await store.getDocument(id, activeVersion) : document
    if (active && credentialPlacesIn(active).some(({ name }) => name === credential)) names.push(document.name)
  }
  return names
}
