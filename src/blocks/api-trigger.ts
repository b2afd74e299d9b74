import { inputTrigger } from './input-trigger.ts'

export const apiTrigger = inputTrigger({
  type: 'api_trigger',
  label: 'API trigger',
  description: 'Starts the workflow when its HTTP endpoint is called.',
  starts: 'api',
})
