import type { SecretBox } from './secret-box.ts'

/** Encrypts what is stored of an asynchronous run. A sealed value opens for the run it was sealed for only. */
export type JobSeal = {
  seal(text: string, executionId: string): Uint8Array
  open(sealed: Uint8Array, executionId: string): string
}

export function createJobSeal(box: Pick<SecretBox, 'seal' | 'openText'>): JobSeal {
  return {
    seal: (text, executionId) => box.seal(text, jobContext(executionId)),
    open: (sealed, executionId) => box.openText(sealed, jobContext(executionId)),
  }
}

/** Ties the sealed input, steps and output to their run. */
export function jobContext(executionId: string): string {
  return `job/${executionId}`
}
