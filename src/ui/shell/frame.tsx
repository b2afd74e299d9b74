import { BookOpen, Keyboard, LogOut, Menu as MenuIcon, Moon, Plus, Settings, Sun, SunMoon } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useMe, useSignOut } from '../api/session.ts'
import { IconButton } from '../parts/button.tsx'
import { openDocs } from '../parts/docs-link.tsx'
import { useToast } from '../parts/toast.tsx'
import { settingsPagesOf } from '../screens/settings/settings-pages.ts'
import { useNewWorkflow } from '../screens/workflows/new-workflow.ts'
import { Commands, useCommands, useOpenKeys } from './commands.tsx'
import { NewMemberships } from './new-memberships.tsx'
import { keyOf } from './palette/key-table.ts'
import { ScreenBoundary } from './screen-boundary.tsx'
import { destinations, Sidebar } from './sidebar.tsx'
import { chooseTheme } from './theme.ts'
import { useChooseWorkspace, useMayWrite, useWorkspace, WorkspaceProvider } from './workspace.tsx'

/** The frame around every screen: sidebar, command palette, workspace. */
export function Frame({ children }: { children: ReactNode }) {
  const [path] = useLocation()
  const [isOpen, setIsOpen] = useState(false)
  // On a narrow page the sidebar covers the screen, so navigating closes it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path triggers the effect
  useEffect(() => setIsOpen(false), [path])
  const isEditor = path.startsWith('/workflows/')
  return (
    <WorkspaceProvider>
      <Commands>
        <FrameCommands />
        <a
          href="#screen"
          className="sr-only z-80 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        >
          Skip to content
        </a>
        {isEditor && <SkipToCanvas />}
        <div className="flex h-full">
          <Sidebar small={isEditor} open={isOpen} onClose={() => setIsOpen(false)} />
          <div className="flex min-w-0 flex-1 flex-col">
            <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line bg-bg px-2 md:hidden">
              <IconButton label="Menu" icon={<MenuIcon size={18} />} onClick={() => setIsOpen(true)} />
              <span className="font-semibold">Millrace</span>
            </div>
            <NewMemberships />
            <main id="screen" tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
              <ScreenBoundary key={isEditor ? path : 'screens'}>{children}</ScreenBoundary>
            </main>
          </div>
        </div>
      </Commands>
    </WorkspaceProvider>
  )
}

/** Leads past the lists and panels of the editor. The canvas moves the focus on to a block. */
function SkipToCanvas() {
  return (
    <button
      type="button"
      onClick={() => document.getElementById('canvas')?.focus()}
      className="sr-only z-80 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
    >
      Skip to canvas
    </button>
  )
}

/** The commands available on every screen. */
function FrameCommands() {
  const [, navigate] = useLocation()
  const me = useMe()
  const {
    workspaces,
    service: { noAuth },
  } = me
  const workspace = useWorkspace()
  const choose = useChooseWorkspace()
  const signOut = useSignOut()
  const toast = useToast()
  const openKeys = useOpenKeys()
  const mayWrite = useMayWrite()
  const create = useNewWorkflow()
  const goTo = (id: string) => {
    choose(id)
    navigate(`/w/${id}/workflows`)
  }
  useCommands([
    ...destinations.map(({ name, label, icon: Icon }) => ({
      id: `go-${name}`,
      label: name === 'gallery' ? 'Gallery of ready workflows' : label,
      group: 'Go to',
      words: name === 'gallery' ? 'templates samples examples new workflow start' : '',
      icon: <Icon size={15} />,
      run: () => navigate(`/w/${workspace.id}/${name}`),
    })),
    ...settingsPagesOf(me).map(({ name, label, words }) => ({
      id: `settings-${name}`,
      label: `Settings: ${label}`,
      group: 'Settings',
      words: `${label} ${words}`,
      icon: <Settings size={15} />,
      run: () => navigate(`/w/${workspace.id}/settings/${name}`),
    })),
    ...(mayWrite
      ? [
          {
            id: 'new-workflow',
            label: 'New workflow',
            group: 'Create',
            words: 'create add',
            icon: <Plus size={15} />,
            run: () => create.mutate(),
          },
        ]
      : []),
    {
      id: 'keys',
      label: 'Show all keys',
      group: 'Help',
      keys: keyOf('keys'),
      words: 'shortcuts keyboard help',
      icon: <Keyboard size={15} />,
      run: openKeys,
    },
    {
      id: 'docs',
      label: 'Documentation',
      group: 'Help',
      words: 'help manual guide',
      icon: <BookOpen size={15} />,
      run: openDocs,
    },
    ...workspaces
      .filter(({ id }) => id !== workspace.id)
      .map(({ id, name }) => ({
        id: `workspace-${id}`,
        label: `Switch to ${name}`,
        group: 'Workspaces',
        words: 'workspace',
        run: () => goTo(id),
      })),
    ...(['system', 'light', 'dark'] as const).map((theme) => ({
      id: `theme-${theme}`,
      label: { system: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' }[theme],
      group: 'Appearance',
      words: 'appearance mode',
      icon: { system: <SunMoon size={15} />, light: <Sun size={15} />, dark: <Moon size={15} /> }[theme],
      run: () => chooseTheme(theme),
    })),
    ...(noAuth
      ? []
      : [
          {
            id: 'sign-out',
            label: 'Sign out',
            group: 'Account',
            icon: <LogOut size={15} />,
            run: () => void signOut().catch(toast.fail),
          },
        ]),
  ])
  return null
}
