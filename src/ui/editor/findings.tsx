import { createContext, useContext, useMemo } from 'react'
import type { ResponseOf } from '../api/call.ts'

export type Finding = ResponseOf<'PUT /api/workflows/:id'>['findings'][number]

/** What the check of the draft, as it was saved last, has to say. */
export const Findings = createContext<readonly Finding[]>([])

/** What it has to say of one block. */
export function useFindings(blockId: string): readonly Finding[] {
  const all = useContext(Findings)
  return useMemo(() => all.filter((finding) => finding.blockId === blockId), [all, blockId])
}
