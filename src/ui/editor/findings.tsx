import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import type { ResponseOf } from '../api/call.ts'
import { useEditing } from './editing.tsx'

export type Finding = ResponseOf<'PUT /api/workflows/:id'>['findings'][number]

/** The problems found in the draft as last saved, without those that are held back. */
export const Findings = createContext<readonly Finding[]>([])

/** The problems of one block. */
export function useFindings(blockId: string): readonly Finding[] {
  const all = useContext(Findings)
  return useMemo(() => all.filter((finding) => finding.blockId === blockId), [all, blockId])
}

/** The problems to show now. */
export function useShownFindings(findings: readonly Finding[]): readonly Finding[] {
  const { held } = useEditing()
  const version = useSyncExternalStore(held.watch, held.version)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the state of `held`
  return useMemo(() => held.shown(findings), [held, findings, version])
}
