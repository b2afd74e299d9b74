/** The result of one check; `advice` says what to do. */
export type Diagnosis = {
  check:
    | 'settings'
    | 'folder'
    | 'disk'
    | 'service'
    | 'database'
    | 'journal'
    | 'key'
    | 'webhooks'
    | 'schedules'
    | 'storage'
    | 'backups'
    | 'mail'
    | 'clock'
    | 'processes'
  state: 'ok' | 'warning' | 'broken'
  message: string
  advice?: string
}
