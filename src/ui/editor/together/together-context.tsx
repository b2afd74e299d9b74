import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import type { Person, Together, TogetherState } from './together.ts'

/** Undefined on canvases that nobody edits, such as a previous run. */
const Context = createContext<Together | undefined>(undefined)

export function TogetherProvider({ value, children }: { value: Together; children: ReactNode }) {
  return <Context value={value}>{children}</Context>
}

/** Part of what is known about others. The caller rerenders when that part changes. */
export function useTogether<Part>(pick: (state: TogetherState) => Part): Part | undefined {
  const together = useContext(Context)
  return useSyncExternalStore(
    (watcher) => together?.watch(watcher) ?? (() => undefined),
    () => together && pick(together.state()),
  )
}

const nobody: readonly Person[] = []

export function usePeopleAt(blockId: string): readonly Person[] {
  return useTogether(({ byBlock }) => byBlock.get(blockId)) ?? nobody
}
