import { useReactFlow } from '@xyflow/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { isTyping } from '../../../parts/keys.tsx'
import { MenuAt, type MenuEntry } from '../../../parts/menu.tsx'
import type { Point } from '../../document/document.ts'
import { useEditing } from '../../editing.tsx'
import type { EditorAction, Target } from './editor-action.ts'

type Opened = { target: Target; at: Point; entries: MenuEntry[] }

/**
 * The menus of the canvas, of lines, notes and selected blocks: by right click, long press, `Shift F10` or the menu
 * key. A menu first selects the element under the pointer, unless it is part of the selection.
 */
export function CanvasMenu({
  actionsAt,
  children,
}: {
  actionsAt: (at: { page: Point; canvas: Point }) => EditorAction[]
  children: ReactNode
}) {
  const { draft } = useEditing()
  const flow = useReactFlow()
  const box = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<Opened>()
  const open = (element: Element, at: Point) => {
    const target = select(element)
    const list = actionsAt({ page: at, canvas: flow.screenToFlowPosition(at) })
    setOpened({ target, at, entries: entriesOf(list, target) })
  }
  const select = (element: Element): Target => {
    const { document, selected } = draft.state()
    const edge = element.closest('.react-flow__edge')?.getAttribute('data-id')
    if (edge) {
      draft.select([], [edge])
      return 'line'
    }
    const id = element.closest('.react-flow__node')?.getAttribute('data-id')
    const isSelection = element.closest('.react-flow__nodesselection') !== null
    if (!id && !isSelection) {
      draft.select([])
      return 'canvas'
    }
    if (id && !selected.has(id)) draft.select([id])
    return [...draft.state().selected].some((one) => document.blocks[one]) ? 'blocks' : 'note'
  }
  const press = useLongPress((element, at) => open(element, at))
  const latest = useRef(open)
  latest.current = open
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isMenuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)
      const focused = document.activeElement
      if (!isMenuKey || !box.current || isTyping(event.composedPath()[0] ?? null)) return
      if (focused && focused !== document.body && !box.current.contains(focused)) return
      event.preventDefault()
      const [only] = draft.state().selected
      const selected = only && box.current.querySelector(`.react-flow__node[data-id="${CSS.escape(only)}"]`)
      const held = focused?.closest('.react-flow__node, .react-flow__edge')
      const element = held ?? (selected || box.current)
      const { x, y, width, height } = element.getBoundingClientRect()
      const isCanvas = element === box.current
      latest.current(
        element,
        isCanvas ? { x: x + width / 2, y: y + height / 3 } : { x: x + 20, y: y + Math.min(height, 40) },
      )
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [draft])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu key opens the same menu
    <div
      ref={box}
      className="h-full w-full"
      onContextMenu={(event) => {
        if (isTyping(event.target) || !(event.target instanceof Element)) return
        event.preventDefault()
        open(event.target, { x: event.clientX, y: event.clientY })
      }}
      {...press}
    >
      {children}
      {opened && (
        <MenuAt
          key={`${opened.at.x} ${opened.at.y}`}
          at={opened.at}
          label={names[opened.target]}
          entries={opened.entries}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  )
}

const names: Record<Target, string> = { canvas: 'Canvas', blocks: 'Selection', line: 'Connection', note: 'Note' }

function entriesOf(list: readonly EditorAction[], target: Target): MenuEntry[] {
  const groups = ['add', 'run', 'copy', 'arrange', 'color', 'view', 'delete'] as const
  const offered = groups.map((group) => list.filter((action) => action.group === group && action.on.includes(target)))
  return offered
    .filter((group) => group.length > 0)
    .flatMap((group, at): MenuEntry[] => [
      ...(at > 0 ? ['separator' as const] : []),
      ...(group[0]?.group === 'color' ? [{ heading: 'Colour' }] : []),
      ...group.map(
        ({ label, icon: Icon, keys, isDanger, isChecked, run }): MenuEntry => ({
          label,
          onSelect: run,
          ...(Icon ? { icon: <Icon size={14} /> } : {}),
          ...(keys?.[0] ? { keys: keys[0] } : {}),
          ...(isDanger ? { danger: true } : {}),
          ...(isChecked === undefined ? {} : { checked: isChecked }),
        }),
      ),
    ])
}

/** Handlers that report a finger which stays in place for half a second. */
function useLongPress(onPress: (element: Element, at: Point) => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const start = useRef<Point>(undefined)
  const wasReported = useRef(false)
  const stop = () => clearTimeout(timer.current)
  return {
    onTouchStart: ({ touches, target }: React.TouchEvent) => {
      stop()
      const [touch, second] = Array.from(touches)
      if (!touch || second || isTyping(target) || !(target instanceof Element)) return
      start.current = { x: touch.clientX, y: touch.clientY }
      wasReported.current = false
      timer.current = setTimeout(() => {
        if (!start.current) return
        wasReported.current = true
        onPress(target, start.current)
      }, longPressMs)
    },
    onTouchMove: ({ touches }: React.TouchEvent) => {
      const [touch] = Array.from(touches)
      const { x, y } = start.current ?? { x: 0, y: 0 }
      if (touch && Math.hypot(touch.clientX - x, touch.clientY - y) > 10) stop()
    },
    onTouchEnd: (event: React.TouchEvent) => {
      stop()
      // Otherwise the browser may turn the release into a click, which closes the menu.
      if (wasReported.current && event.cancelable) event.preventDefault()
    },
    onTouchCancel: stop,
  }
}

const longPressMs = 500
