import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { hasMod, useSingleKeys } from '../parts/keys.tsx'
import { CommandPalette } from './palette/command-palette.tsx'

const KeysDialog = lazy(async () => ({ default: (await import('./palette/keys-dialog.tsx')).KeysDialog }))

/** A command of the palette, available while its owner is mounted. */
export type Command = {
  id: string
  label: string
  /** The group it is listed under: `Go to`, `Workflow`. */
  group: string
  icon?: ReactNode
  /** Shown next to the label. The owner of the command handles the keys. */
  keys?: string
  /** Additional search terms. */
  words?: string
  run: () => void
}

type Source = () => readonly Command[]
type Registry = {
  register(commands: readonly Command[]): () => void
  registerSource(source: Source): () => void
  open: () => void
  openKeys: () => void
}

const Context = createContext<Registry | undefined>(undefined)

/** Collects the commands of all mounted components and shows them on Ctrl+K or ⌘K. `?` shows all keys. */
export function Commands({ children }: { children: ReactNode }) {
  const [groups, setGroups] = useState<ReadonlySet<readonly Command[]>>(new Set())
  const [isOpen, setIsOpen] = useState(false)
  const [showsKeys, setShowsKeys] = useState(false)
  const sources = useRef(new Set<Source>())
  const registry = useMemo<Registry>(
    () => ({
      register(commands) {
        setGroups((all) => new Set(all).add(commands))
        return () =>
          setGroups((all) => {
            const left = new Set(all)
            left.delete(commands)
            return left
          })
      },
      registerSource(source) {
        sources.current.add(source)
        return () => sources.current.delete(source)
      },
      open: () => setIsOpen(true),
      openKeys: () => setShowsKeys(true),
    }),
    [],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!hasMod(event) || event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey) return
      event.preventDefault()
      setIsOpen((open) => !open)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  useSingleKeys({ '?': () => setShowsKeys(true) })
  return (
    <Context value={registry}>
      {children}
      <CommandPalette
        open={isOpen}
        onClose={() => setIsOpen(false)}
        commands={() => [...[...groups].flat(), ...[...sources.current].flatMap((source) => source())]}
      />
      {showsKeys && (
        <Suspense>
          <KeysDialog onClose={() => setShowsKeys(false)} />
        </Suspense>
      )}
    </Context>
  )
}

/**
 * Registers commands while the caller is mounted. `run` may use current state: the latest version is called. The list
 * itself is updated when `key` changes.
 */
export function useCommands(commands: readonly Command[], key = ''): void {
  const { register } = useRegistry()
  const latest = useRef(commands)
  latest.current = commands
  const shape = `${key}|${commands.map(({ id, label }) => `${id}:${label}`).join('|')}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` changes whenever the list does
  useEffect(() => {
    const now = latest.current
    return register(
      now.map((command) => ({
        ...command,
        run: () => latest.current.find(({ id }) => id === command.id)?.run(),
      })),
    )
  }, [register, shape])
}

/** Offers commands that are listed when the palette opens, such as one for each block of a large workflow. */
export function useCommandSource(source: Source): void {
  const { registerSource } = useRegistry()
  const latest = useRef(source)
  latest.current = source
  useEffect(() => registerSource(() => latest.current()), [registerSource])
}

export function useOpenKeys(): () => void {
  return useRegistry().openKeys
}

export function useOpenPalette(): () => void {
  return useRegistry().open
}

function useRegistry(): Registry {
  const registry = useContext(Context)
  if (!registry) throw new Error('useCommands must be used inside Commands')
  return registry
}
