import { createContext, useContext, useMemo } from 'react'
import type { ResponseOf } from '../api/call.ts'

export type Finding = ResponseOf<'PUT /api/workflows/:id'>['findings'][number]

/** The problems found in the draft as last saved. */
export const Findings = createContext<readonly Finding[]>([])

/** The problems of one block. */
export function useFindings(blockId: string): readonly Finding[] {
  const all = useContext(Findings)
  return useMemo(() => all.filter((finding) => finding.blockId === blockId), [all, blockId])
}
