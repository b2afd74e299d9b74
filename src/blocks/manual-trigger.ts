import { inputTrigger } from './input-trigger.ts'

export const manualTrigger = inputTrigger({
  type: 'manual_trigger',
  label: 'Manual',
  description: 'Starts the workflow manually, in the editor or on the command line.',
  starts: 'manual',
})
