/** What can be shown over the editor. */
export type EditorDialog = 'deploy' | 'versions' | 'endpoint' | 'about' | 'run'
