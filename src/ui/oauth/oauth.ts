import { element, notify, type Problem, show, unreachable } from '../form/page-parts.ts'

/**
 * The page on which people allow an MCP client to act for their account. It signs them in first. It uses no framework,
 * and shows the texts of clients as plain text.
 */

type Role = 'owner' | 'editor' | 'viewer'
type Asked = {
  name: string
  sentTo: string
  email: string
  workspaces: readonly { id: string; name: string; role: Role }[]
  refusal: { message: string; redirectTo: string } | null
}

const query = location.search.slice(1)
const consentPath = '/api/editor/applications/consent'
const signIn = element('sign-in', HTMLFormElement)
const consent = element('consent', HTMLFormElement)
const workspace = element('workspace', HTMLSelectElement)
const buttons = ['connect', 'deny', 'enter'].map((id) => element(id, HTMLButtonElement))

async function load(): Promise<void> {
  const answer = await send<Asked>(`${consentPath}?query=${encodeURIComponent(query)}`)
  if (answer?.ok) ask(answer.body)
  else if (answer?.body.code === 'SIGN_IN_REQUIRED') askToSignIn()
  else if (answer) refuse(answer.body.error ?? 'The page cannot show the request.')
}

function askToSignIn(): void {
  consent.hidden = true
  notify('')
  if (!signIn.hidden) return
  signIn.hidden = false
  element('email', HTMLInputElement).focus()
}

function ask({ name, sentTo, email, workspaces, refusal }: Asked): void {
  document.title = `Connect ${name} · Millrace`
  element('title', HTMLElement).textContent = `Connect ${name}`
  if (refusal) {
    refuse(`Millrace cannot grant the request of ${name}. ${refusal.message}`, refusal.redirectTo)
  } else if (workspaces.length === 0) {
    refuse(`You are signed in as ${email}. This account is not a member of the workspace that ${name} asks for.`)
  } else {
    signIn.hidden = true
    notify('')
    show('asks', `${name} wants to use Millrace as ${email}. Connect it only if you have just started this yourself.`)
    show('facts', `The access goes to ${sentTo}. ${factsText}`)
    showWorkspaces(workspaces)
    consent.hidden = false
    element('title', HTMLElement).focus()
  }
}

const factsText =
  'The application chose its name itself. You can disconnect it at any time in the settings of your account.'

function showWorkspaces(workspaces: Asked['workspaces']): void {
  workspace.replaceChildren(...workspaces.map(({ id, name }) => new Option(name, id)))
  const showRole = () => show('may', mayDo[workspaces.find(({ id }) => id === workspace.value)?.role ?? 'viewer'])
  workspace.onchange = showRole
  showRole()
}

/** The texts about each role. */
const mayDo: Record<Role, string> = {
  owner: 'It may read, build, deploy and run workflows of this workspace, and read their runs.',
  editor: 'It may read, build, deploy and run workflows of this workspace, and read their runs.',
  viewer: 'You are a viewer of this workspace, so it may only read workflows and runs.',
}

function refuse(message: string, redirectTo?: string): void {
  signIn.hidden = true
  consent.hidden = true
  notify(message, 'error')
  if (redirectTo === undefined) return
  element('back-link', HTMLAnchorElement).href = redirectTo
  element('back', HTMLElement).hidden = false
}

async function decide(workspaceId: string | undefined): Promise<void> {
  notify(workspaceId === undefined ? 'One moment…' : 'Connecting…', 'busy')
  const answer = await send<{ redirectTo: string }>(consentPath, { query, workspaceId })
  if (!answer) return
  if (!answer.ok) {
    if (answer.body.code === 'SIGN_IN_REQUIRED') await load()
    else notify(answer.body.error ?? 'The application could not be connected.', 'error')
    return
  }
  consent.hidden = true
  const { redirectTo } = answer.body
  element('back-link', HTMLAnchorElement).href = redirectTo
  element('back', HTMLElement).hidden = false
  notify(workspaceId === undefined ? 'Cancelled. You can close this page.' : 'Connected. You can close this page.')
  location.assign(redirectTo)
}

async function enter(): Promise<void> {
  notify('Signing in…', 'busy')
  const fields = new FormData(signIn)
  const body = { email: fields.get('email'), password: fields.get('password') }
  const answer = await send('/api/session', body)
  if (answer?.ok) await load()
  else if (answer) notify(answer.body.error ?? 'The sign-in failed.', 'error')
}

type Answer<Body> = { ok: true; body: Body } | { ok: false; body: Problem }

/** Undefined when the service cannot be reached; the page says so. */
async function send<Body>(path: string, sent?: object): Promise<Answer<Body> | undefined> {
  for (const button of buttons) button.disabled = true
  try {
    const options = sent && { method: 'POST', body: JSON.stringify(sent) }
    const response = await fetch(path, options)
    const body: unknown = await response.json()
    return response.ok ? { ok: true, body: body as Body } : { ok: false, body: body as Problem }
  } catch {
    notify(unreachable, 'error')
    return undefined
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

signIn.addEventListener('submit', (event) => {
  event.preventDefault()
  void enter()
})
consent.addEventListener('submit', (event) => {
  event.preventDefault()
  void decide(workspace.value)
})
element('deny', HTMLButtonElement).addEventListener('click', () => void decide(undefined))
// People may have signed in with a link in another tab.
addEventListener('focus', () => {
  if (!signIn.hidden && element('email', HTMLInputElement).value === '') void load()
})
void load()
