import type { AppError } from '../../domain/errors.ts'
import { assertMay, roleOf } from './auth.ts'
import type { Door, ResponseSet } from './door.ts'

export type MemberCall = {
  request: Request
  set: ResponseSet
  workspaceId: string
  kind: 'chat' | 'form'
  /** The error for an address that does not exist. */
  missing: AppError
}

/** Throws unless the caller may run workflows in the workspace of a chat or form for members. */
export async function assertMember(
  door: Door,
  { request, set, workspaceId, kind, missing }: MemberCall,
): Promise<void> {
  const caller = await door.requireKeyOrSession(request, set)
  if (roleOf(caller, workspaceId) === undefined) {
    // The response must look the same as for an address that does not exist.
    delete set.headers['set-cookie']
    throw missing
  }
  assertMay(caller, workspaceId, 'execute', kind)
}
