import {
  Archive,
  BellRing,
  BookOpen,
  ChartNoAxesGantt,
  Hourglass,
  LayoutGrid,
  LogOut,
  Moon,
  Search,
  Settings,
  Sun,
  SunMoon,
  UserRound,
  Workflow,
  X,
} from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useMe, useSignOut } from '../api/session.ts'
import { IconButton } from '../parts/button.tsx'
import { classes } from '../parts/class-names.ts'
import { openDocs } from '../parts/docs-link.tsx'
import { Hint } from '../parts/hint.tsx'
import { Keys } from '../parts/keys.tsx'
import { Menu } from '../parts/menu.tsx'
import { useToast } from '../parts/toast.tsx'
import { useOpenPalette } from './commands.tsx'
import { keyOf } from './palette/key-table.ts'
import { chooseTheme, chosenTheme } from './theme.ts'
import { WaitingBadge } from './waiting-badge.tsx'
import { useWorkspace } from './workspace.tsx'
import { WorkspaceSwitcher } from './workspace-switcher.tsx'

/** The entries of the sidebar; `name` is the part of the path after the workspace. */
export const destinations = [
  { name: 'workflows', label: 'Workflows', icon: Workflow, also: '/workflows/' },
  { name: 'gallery', label: 'Gallery', icon: LayoutGrid, also: '/gallery/' },
  { name: 'waiting', label: 'Waiting', icon: Hourglass, also: '/waiting/' },
  { name: 'logs', label: 'Logs', icon: ChartNoAxesGantt, also: '/logs/' },
  { name: 'store', label: 'Store', icon: Archive, also: '/store/' },
  { name: 'alerts', label: 'Alerts', icon: BellRing, also: '/alerts/' },
  { name: 'settings', label: 'Settings', icon: Settings, also: '/settings/' },
] as const

/** `small`: icons only, for screens that need the space. On a narrow page the open sidebar covers the screen. */
export function Sidebar({ small, open, onClose }: { small: boolean; open: boolean; onClose: () => void }) {
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: Escape and a button also close it */}
      {open && <div className="backdrop z-40 md:hidden" onClick={onClose} />}
      <nav
        aria-label="Main"
        onKeyDown={(event) => event.key === 'Escape' && open && onClose()}
        className={classes(
          'z-50 flex shrink-0 flex-col gap-1 border-r border-line bg-bg p-2',
          'max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:w-64 max-md:shadow-popup',
          open ? 'max-md:flex' : 'max-md:hidden',
          small ? 'md:w-13' : 'md:w-56',
        )}
      >
        <Items small={small && !open} onClose={open ? onClose : undefined} />
      </nav>
    </>
  )
}

function Items({ small, onClose }: { small: boolean; onClose: (() => void) | undefined }) {
  const workspace = useWorkspace()
  const [path] = useLocation()
  const openPalette = useOpenPalette()
  return (
    <>
      <div className="flex items-center gap-1 pb-1">
        <WorkspaceSwitcher small={small} />
        {onClose && <IconButton label="Close menu" icon={<X size={16} />} onClick={onClose} />}
      </div>
      <Item
        small={small}
        label="Search"
        keys={keyOf('palette')}
        icon={<Search size={16} />}
        onClick={openPalette}
        after={<Keys text={keyOf('palette')} />}
      />
      {destinations.map(({ name, label, icon: Icon, also }) => {
        const address = `/w/${workspace.id}/${name}`
        return (
          <Item
            key={name}
            small={small}
            label={label}
            icon={<Icon size={16} />}
            href={address}
            current={path === address || path.startsWith(`${address}/`) || path.startsWith(also)}
            {...(name === 'waiting' && { badge: <WaitingBadge small={small} /> })}
          />
        )
      })}
      <div className="flex-1" />
      <AccountMenu small={small} />
    </>
  )
}

function Item({
  small,
  label,
  keys,
  icon,
  href,
  current,
  onClick,
  after,
  badge,
}: {
  small: boolean
  label: string
  keys?: string
  icon: ReactNode
  href?: string
  current?: boolean
  onClick?: () => void
  after?: ReactNode
  /** Shown at the end; in a small sidebar, in the corner of the icon. */
  badge?: ReactNode
}) {
  const look = classes(
    'relative flex h-8 w-full cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm transition-colors duration-75 select-none hover:bg-hover',
    current ? 'bg-hover font-medium text-text' : 'text-muted hover:text-text',
  )
  const content = (
    <>
      <span className="flex size-4 shrink-0 items-center justify-center">{icon}</span>
      <span className={small ? 'sr-only' : 'min-w-0 flex-1 truncate text-left'}>{label}</span>
      {!small && after}
      {badge}
    </>
  )
  const element = href ? (
    <Link href={href} className={look} aria-current={current ? 'page' : undefined}>
      {content}
    </Link>
  ) : (
    <button type="button" className={look} onClick={onClick}>
      {content}
    </button>
  )
  if (!small) return element
  return (
    <Hint text={label} side="right" {...(keys ? { keys } : {})}>
      {element}
    </Hint>
  )
}

function AccountMenu({ small }: { small: boolean }) {
  const {
    user: { email },
    service: { noAuth },
  } = useMe()
  const workspace = useWorkspace()
  const [, navigate] = useLocation()
  const signOut = useSignOut()
  const toast = useToast()
  const [theme, setTheme] = useState(chosenTheme)
  const themed = (next: typeof theme, label: string, icon: ReactNode) => ({
    label,
    icon,
    note: theme === next ? '✓' : '',
    onSelect: () => {
      chooseTheme(next)
      setTheme(next)
    },
  })
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          aria-label={`Account ${email}`}
          className="flex h-8 w-full cursor-default items-center gap-2.5 rounded-md px-2.5 text-left text-sm text-muted hover:bg-hover hover:text-text data-popup-open:bg-hover"
        >
          <UserRound size={16} className="shrink-0" aria-hidden="true" />
          {!small && <span className="min-w-0 flex-1 truncate">{email}</span>}
        </button>
      }
      entries={[
        { heading: 'Theme' },
        themed('system', 'System', <SunMoon size={15} />),
        themed('light', 'Light', <Sun size={15} />),
        themed('dark', 'Dark', <Moon size={15} />),
        'separator',
        { label: 'Documentation', icon: <BookOpen size={15} />, onSelect: openDocs },
        { label: 'Settings', icon: <Settings size={15} />, onSelect: () => navigate(`/w/${workspace.id}/settings`) },
        ...(noAuth
          ? []
          : [
              {
                label: 'Sign out',
                icon: <LogOut size={15} />,
                onSelect: () => void signOut().catch(toast.fail),
              },
            ]),
      ]}
    />
  )
}
