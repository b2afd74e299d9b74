/** Advice for the operator when a request to an S3 service failed with an error of this name. */
export function s3Advice(name: string, { noBucket, denied }: { noBucket: string; denied: string }): string {
  switch (name) {
    case 'RequestTimeTooSkewed':
      return "The clocks of this machine and the storage differ: correct this machine's."
    case 'NoSuchBucket':
      return noBucket
    case 'AccessDenied':
      return denied
    default:
      return (
        'Check MILLRACE_S3_ENDPOINT, MILLRACE_S3_REGION, MILLRACE_S3_FORCE_PATH_STYLE and the credentials ' +
        '(AWS_ACCESS_KEY_ID, …).'
      )
  }
}
