/** The pages of `docs/` in reading order, by file name without `.md`. */
export const contents: readonly { group: string; pages: readonly string[] }[] = [
  { group: 'Start here', pages: ['first-workflow', 'concepts', 'editor', 'assistant', 'coming-from-sim'] },
  {
    group: 'Build workflows',
    pages: [
      'blocks',
      'triggers',
      'memory',
      'models',
      'files',
      'data',
      'secrets',
      'credentials',
      'connectors',
      'databases',
      'testing',
    ],
  },
  { group: 'Integrate', pages: ['api', 'streaming', 'forms', 'waiting', 'mcp', 'webhooks', 'command-line'] },
  {
    group: 'Operate',
    pages: [
      'configuration',
      'operations',
      'alerts',
      'tracing',
      'postgresql',
      'security',
      'limits',
      'upgrade',
      'benchmarks',
    ],
  },
]
