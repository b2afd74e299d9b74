import { Link, Redirect, useLocation } from 'wouter'
import { classes } from '../../parts/class-names.ts'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { Page } from '../../shell/page.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { AboutSection } from './about-section.tsx'
import { AccountSection } from './account-section.tsx'
import { EnvironmentSection } from './environment-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { UsageSection } from './usage-section.tsx'
import { WorkspaceSection } from './workspace-section.tsx'

const sections = [
  { name: 'keys', label: 'API keys', group: 'You', content: KeysSection, docs: docs.keys },
  { name: 'account', label: 'Account', group: 'You', content: AccountSection, docs: docs.signIn },
  {
    name: 'environment',
    label: 'Environment variables',
    group: 'Workspace',
    content: EnvironmentSection,
    docs: docs.environment,
  },
  { name: 'workspace', label: 'Name and members', group: 'Workspace', content: WorkspaceSection, docs: docs.roles },
  { name: 'usage', label: 'Usage and limits', group: 'Workspace', content: UsageSection, docs: docs.limits },
  { name: 'about', label: 'About', group: 'Service', content: AboutSection, docs: docs.configuration },
] as const

/** The settings of the account, the workspace and the service. */
export function SettingsScreen({ params: { section } }: { params: { workspaceId: string; section?: string } }) {
  const { id, name } = useWorkspace()
  const [, navigate] = useLocation()
  const at = (part: string) => `/w/${id}/settings/${part}`
  useCommands(
    sections.map(({ name: part, label }) => ({
      id: `settings-${part}`,
      label: `Settings: ${label}`,
      group: 'Settings',
      run: () => navigate(at(part)),
    })),
    id,
  )
  const chosen = sections.find((each) => each.name === section)
  if (!chosen) return <Redirect to={at('keys')} replace />
  const { content: Content } = chosen
  return (
    <Page
      title={chosen.label}
      crumbs={[{ label: name }, { label: 'Settings' }]}
      actions={<DocsLink to={chosen.docs} />}
    >
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <nav
          aria-label="Settings"
          className="flex shrink-0 gap-1 overflow-x-auto border-line px-4 py-2 max-md:border-b md:w-52 md:flex-col md:border-r md:px-3 md:py-4"
        >
          {sections.map(({ name: part, label, group }, index) => (
            <div key={part} className="contents">
              {sections[index - 1]?.group !== group && (
                <p
                  className={classes('px-2.5 pb-1 text-2xs font-medium text-muted max-md:hidden', index > 0 && 'pt-4')}
                >
                  {group}
                </p>
              )}
              <Link
                href={at(part)}
                aria-current={part === section ? 'page' : undefined}
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
        <section
          aria-label={chosen.label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="min-h-0 min-w-0 flex-1 overflow-y-auto -outline-offset-2"
        >
          <div className="max-w-200 px-4 py-6 md:px-8">
            <Content key={id} />
          </div>
        </section>
      </div>
    </Page>
  )
}
