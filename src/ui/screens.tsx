import { type QueryClient, useQuery } from '@tanstack/react-query'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { meQuery } from './api/session.ts'
import { prefetchWorkflow } from './editor/editor-queries.ts'
import { Failed, Loading } from './parts/states.tsx'
import { Frame } from './shell/frame.tsx'
import { HomeScreen } from './shell/home-screen.tsx'
import { LazyScreen, ScreenFile } from './shell/lazy-screen.tsx'
import { NotFoundScreen } from './shell/not-found-screen.tsx'
import { useWorkspace } from './shell/workspace.tsx'

const signIn = new ScreenFile(async () => (await import('./screens/sign-in/sign-in-screen.tsx')).SignInScreen)
const workflows = new ScreenFile(async () => (await import('./screens/workflows/workflows-screen.tsx')).WorkflowsScreen)
const gallery = new ScreenFile(async () => (await import('./screens/gallery/gallery-screen.tsx')).GalleryScreen)
const waiting = new ScreenFile(async () => (await import('./screens/waiting/waiting-screen.tsx')).WaitingScreen)
const alerts = new ScreenFile(async () => (await import('./screens/alerts/alerts-screen.tsx')).AlertsScreen)
const logs = new ScreenFile(async () => (await import('./screens/logs/logs-screen.tsx')).LogsScreen)
const entry = new ScreenFile(async () => (await import('./screens/logs/entry/entry-screen.tsx')).EntryScreen)
const store = new ScreenFile(async () => (await import('./screens/store/store-screen.tsx')).StoreScreen)
const settings = new ScreenFile(async () => (await import('./screens/settings/settings-screen.tsx')).SettingsScreen)
const webhooks = new ScreenFile(async () => (await import('./screens/webhooks/webhooks-screen.tsx')).WebhooksScreen)
const editor = new ScreenFile(async () => (await import('./editor/editor-screen.tsx')).EditorScreen)

/** All routes of the dashboard. The service returns this page for each of them (`http/routes/interface.ts`). */
export function Screens() {
  const [path] = useLocation()
  const me = useQuery(meQuery)
  if (me.isPending) return <Loading label="Loading" />
  if (me.isError) return <Failed error={me.error} retry={() => void me.refetch()} title="Millrace is not responding" />
  if (!me.data) return <LazyScreen file={signIn} params={{}} />
  if (path === '/sign-in') return <Redirect to="/" replace />
  return (
    <Frame>
      <Switch>
        <Route path="/" component={HomeScreen} />
        <Route path="/w/:workspaceId/workflows">{(params) => <LazyScreen file={workflows} params={params} />}</Route>
        <Route path="/w/:workspaceId/gallery">{(params) => <LazyScreen file={gallery} params={params} />}</Route>
        <Route path="/w/:workspaceId/waiting">{(params) => <LazyScreen file={waiting} params={params} />}</Route>
        <Route path="/w/:workspaceId/alerts">{(params) => <LazyScreen file={alerts} params={params} />}</Route>
        <Route path="/w/:workspaceId/logs">{(params) => <LazyScreen file={logs} params={params} />}</Route>
        <Route path="/w/:workspaceId/store">{(params) => <LazyScreen file={store} params={params} />}</Route>
        <Route path="/w/:workspaceId/settings/:section?">
          {(params) => <LazyScreen file={settings} params={params} />}
        </Route>
        {['/workflows', '/logs', '/settings'].map((short) => (
          <Route key={short} path={short} component={ShortPath} />
        ))}
        <Route path="/logs/:id">{(params) => <LazyScreen file={entry} params={params} />}</Route>
        <Route path="/workflows/:id">{(params) => <LazyScreen file={editor} params={params} />}</Route>
        <Route path="/workflows/:id/webhooks">{(params) => <LazyScreen file={webhooks} params={params} />}</Route>
        <Route component={NotFoundScreen} />
      </Switch>
    </Frame>
  )
}

/** A path without a workspace, such as `/logs`. It redirects to the most recent workspace. */
function ShortPath() {
  const [path] = useLocation()
  const { id } = useWorkspace()
  return <Redirect to={`/w/${id}${path}`} replace />
}

/** Starts all requests for a page's first view at once. Otherwise its components would send them one after another. */
export function prefetch(path: string, queries: QueryClient): void {
  void queries.prefetchQuery(meQuery)
  const id = /^\/workflows\/([\w-]+)$/.exec(path)?.[1]
  if (id === undefined) return
  // The screen itself reports the failure.
  editor.load().catch(() => undefined)
  prefetchWorkflow(queries, id)
}
