/** The dialogs of the editor. */
export type EditorDialog = 'deploy' | 'versions' | 'endpoint' | 'about' | 'assistants' | 'run' | 'separate' | 'tests'
