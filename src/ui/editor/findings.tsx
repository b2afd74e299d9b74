import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import type { ResponseOf } from '../api/call.ts'
import type { Document } from './document/document.ts'
import { useDraft, useEditing } from './editing.tsx'
import { isOutdated } from './held-problems.ts'

export type Finding = ResponseOf<'PUT /api/workflows/:id'>['findings'][number]

/** The problems found in the draft as last saved, without those that are held back. */
export const Findings = createContext<readonly Finding[]>([])

/** The problems of one block. */
export function useFindings(blockId: string): readonly Finding[] {
  const all = useContext(Findings)
  return useMemo(() => all.filter((finding) => finding.blockId === blockId), [all, blockId])
}

/** The problems to show now, among those of the document that was `checked` last. */
export function useShownFindings(findings: readonly Finding[], checked: Document): readonly Finding[] {
  const { held } = useEditing()
  const version = useSyncExternalStore(held.watch, held.version)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for the state of `held`
  const shown = useMemo(() => held.shown(findings), [held, findings, version])
  // As text, which is the same until another problem is outdated.
  const outdated = useDraft(({ document }) =>
    shown.flatMap((finding, at) => (isOutdated(finding, checked, document) ? [at] : [])).join(),
  )
  return useMemo(() => {
    const left = new Set(outdated.split(','))
    return outdated === '' ? shown : shown.filter((_, at) => !left.has(String(at)))
  }, [shown, outdated])
}
