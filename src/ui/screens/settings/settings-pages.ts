/** The pages of the settings, with the words that the command palette finds them by. */
export const settingsPages = [
  { name: 'keys', label: 'API keys', words: 'token secret create authentication', group: 'You' },
  { name: 'account', label: 'Account', words: 'password e-mail sign in theme session', group: 'You' },
  { name: 'environment', label: 'Environment variables', words: 'secrets', group: 'Workspace' },
  { name: 'credentials', label: 'Credentials', words: 'password token sign in services', group: 'Workspace' },
  { name: 'connectors', label: 'Connectors', words: 'services openapi import curl plugin', group: 'Workspace' },
  { name: 'workspace', label: 'Name and members', words: 'people invite roles users team viewer', group: 'Workspace' },
  { name: 'usage', label: 'Usage and limits', words: 'cost models tokens quota tier plan', group: 'Workspace' },
  { name: 'processes', label: 'Processes', words: 'drain leader cluster postgresql heartbeat', group: 'Service' },
  { name: 'about', label: 'About', words: 'version service disk health status', group: 'Service' },
] as const

/** The pages that an account sees: only the owner of an installation on PostgreSQL sees its processes. */
export function settingsPagesOf({ service }: { service: { showsProcesses: boolean } }) {
  return settingsPages.filter(({ name }) => name !== 'processes' || service.showsProcesses)
}
