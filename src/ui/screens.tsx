import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { meQuery } from './api/session.ts'
import { Failed, Loading } from './parts/states.tsx'
import { Frame } from './shell/frame.tsx'
import { HomeScreen } from './shell/home-screen.tsx'
import { NotFoundScreen } from './shell/not-found-screen.tsx'
import { useWorkspace } from './shell/workspace.tsx'

// Each screen is a file of its own that is loaded when it is first shown.
const SignInScreen = lazy(async () => ({
  default: (await import('./screens/sign-in/sign-in-screen.tsx')).SignInScreen,
}))
const WorkflowsScreen = lazy(async () => ({
  default: (await import('./screens/workflows/workflows-screen.tsx')).WorkflowsScreen,
}))
const LogsScreen = lazy(async () => ({
  default: (await import('./screens/logs/logs-screen.tsx')).LogsScreen,
}))
const EntryScreen = lazy(async () => ({
  default: (await import('./screens/logs/entry/entry-screen.tsx')).EntryScreen,
}))
const SettingsScreen = lazy(async () => ({
  default: (await import('./screens/settings/settings-screen.tsx')).SettingsScreen,
}))
const WebhooksScreen = lazy(async () => ({
  default: (await import('./screens/webhooks/webhooks-screen.tsx')).WebhooksScreen,
}))
const EditorScreen = lazy(async () => ({ default: (await import('./editor/editor-screen.tsx')).EditorScreen }))

/** Every address of the dashboard. The service answers with this page at all of them (`http/routes/interface.ts`). */
export function Screens() {
  const [path] = useLocation()
  const me = useQuery(meQuery)
  if (me.isPending) return <Loading label="Signing in" />
  if (me.isError) return <Failed error={me.error} retry={() => void me.refetch()} title="The service does not answer" />
  if (!me.data) {
    return (
      <Suspense fallback={<Loading />}>
        <SignInScreen />
      </Suspense>
    )
  }
  if (path === '/sign-in') return <Redirect to="/" replace />
  return (
    <Frame>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/" component={HomeScreen} />
          <Route path="/w/:workspaceId/workflows" component={WorkflowsScreen} />
          <Route path="/w/:workspaceId/logs" component={LogsScreen} />
          <Route path="/w/:workspaceId/settings/:section?" component={SettingsScreen} />
          {['/workflows', '/logs', '/settings'].map((short) => (
            <Route key={short} path={short} component={ShortAddress} />
          ))}
          <Route path="/logs/:id" component={EntryScreen} />
          <Route path="/workflows/:id" component={EditorScreen} />
          <Route path="/workflows/:id/webhooks" component={WebhooksScreen} />
          <Route component={NotFoundScreen} />
        </Switch>
      </Suspense>
    </Frame>
  )
}

/** An address as people type it, without the workspace: the one that was looked at last. */
function ShortAddress() {
  const [path] = useLocation()
  const { id } = useWorkspace()
  return <Redirect to={`/w/${id}${path}`} replace />
}
