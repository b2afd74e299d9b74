import { Compass } from 'lucide-react'
import { Link, Redirect } from 'wouter'
import { useMe } from '../../api/session.ts'
import { classes } from '../../parts/class-names.ts'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Empty } from '../../parts/states.tsx'
import { Page, PageBody } from '../../shell/page.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { AboutSection } from './about-section.tsx'
import { AccountSection } from './account-section.tsx'
import { ConnectorsSection } from './connectors/connectors-section.tsx'
import { CredentialsSection } from './credentials-section.tsx'
import { EnvironmentSection } from './environment-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { ProcessesSection } from './processes-section.tsx'
import { type settingsPages, settingsPagesOf } from './settings-pages.ts'
import { UsageSection } from './usage-section.tsx'
import { WorkspaceSection } from './workspace-section.tsx'

const contents = {
  keys: { content: KeysSection, docs: docs.keys },
  account: { content: AccountSection, docs: docs.signIn },
  environment: { content: EnvironmentSection, docs: docs.environment },
  credentials: { content: CredentialsSection, docs: docs.credentials },
  connectors: { content: ConnectorsSection, docs: docs.connectors },
  workspace: { content: WorkspaceSection, docs: docs.roles },
  usage: { content: UsageSection, docs: docs.limits },
  processes: { content: ProcessesSection, docs: docs.processes },
  about: { content: AboutSection, docs: docs.configuration },
} satisfies Record<(typeof settingsPages)[number]['name'], unknown>

/** The settings of the account, the workspace and the service. */
export function SettingsScreen({ params: { section } }: { params: { workspaceId: string; section?: string } }) {
  const { id, name } = useWorkspace()
  const pages = settingsPagesOf(useMe())
  const at = (part: string) => `/w/${id}/settings/${part}`
  if (section === undefined) return <Redirect to={at('keys')} replace />
  const chosen = pages.find((each) => each.name === section)
  const { content: Content, docs: address } = chosen ? contents[chosen.name] : { content: undefined, docs: undefined }
  return (
    <Page
      title={chosen?.label ?? 'Page not found'}
      crumbs={[{ label: name }, { label: 'Settings' }]}
      actions={address && <DocsLink to={address} />}
    >
      <div className="flex min-h-0 flex-1 flex-col">
        <nav
          aria-label="Settings"
          className="flex shrink-0 items-center gap-1 relative overflow-x-auto border-b border-line px-2 py-2 md:px-3.5"
        >
          {pages.map(({ name: part, label, group }, index) => (
            <div key={part} className="contents">
              {index > 0 && pages[index - 1]?.group !== group && (
                <span aria-hidden="true" className="mx-1 h-4 w-px shrink-0 bg-line-strong" />
              )}
              <Link
                href={at(part)}
                aria-current={part === section ? 'page' : undefined}
                ref={part === section ? showInRow : undefined}
                className={classes(
                  'flex h-8 shrink-0 items-center rounded-md px-2.5 text-sm whitespace-nowrap hover:bg-hover',
                  part === section ? 'bg-hover font-medium text-text' : 'text-muted hover:text-text',
                )}
              >
                {label}
              </Link>
            </div>
          ))}
        </nav>
        <PageBody label={chosen?.label ?? 'Page not found'}>
          {Content ? <Content key={id} /> : <UnknownPage name={section} />}
        </PageBody>
      </div>
    </Page>
  )
}

/** Narrow pages show only some of the links: the current one has to be among them. */
function showInRow(link: HTMLElement | null): void {
  const row = link?.parentElement?.parentElement
  if (!link || !row) return
  row.scrollLeft = link.offsetLeft - (row.clientWidth - link.offsetWidth) / 2
}

function UnknownPage({ name }: { name: string }) {
  return (
    <Empty icon={<Compass size={22} />} title="Page not found">
      The settings have no page “{name}”. Choose one from the list.
    </Empty>
  )
}
