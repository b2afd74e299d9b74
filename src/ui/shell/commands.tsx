import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { hasMod } from '../parts/keys.tsx'
import { CommandPalette } from './command-palette.tsx'

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

type Registry = { register(commands: readonly Command[]): () => void; open: () => void }

const Context = createContext<Registry | undefined>(undefined)

/** Collects the commands of all mounted components and shows them on Ctrl+K or ⌘K. */
export function Commands({ children }: { children: ReactNode }) {
  const [groups, setGroups] = useState<ReadonlySet<readonly Command[]>>(new Set())
  const [isOpen, setIsOpen] = useState(false)
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
      open: () => setIsOpen(true),
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
  return (
    <Context value={registry}>
      {children}
      <CommandPalette open={isOpen} onClose={() => setIsOpen(false)} commands={[...groups].flat()} />
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

export function useOpenPalette(): () => void {
  return useRegistry().open
}

function useRegistry(): Registry {
  const registry = useContext(Context)
  if (!registry) throw new Error('useCommands must be used inside Commands')
  return registry
}
