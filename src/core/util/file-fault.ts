/**
 * What the system says of a file that cannot be read or written, in words that finish "… cannot be read: ". Errors that
 * are not the system's, such as those of a parser, keep their own text.
 */

/** Codes of the system -> words. */
const words: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EDQUOT: 'the quota of the disk is used up',
  EEXIST: 'it is there already',
  EFBIG: 'it is too large',
  EIO: 'the disk answers with an error',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENFILE: 'too many files are open',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space is left on the disk',
  ENOTDIR: 'a part of its path is a file and no folder',
  EPERM: 'it is not permitted',
  EROFS: 'the file system can only be read',
};

/** For a file that has to be there. */
export function readFault(error: unknown): string {
  const {code, message} = error as NodeJS.ErrnoException;
  return words[code ?? ''] ?? message;
}

/** For a file that is made: what does not exist is the folder around it, and what stands in that one's place is a file. */
export function writeFault(error: unknown): string {
  const {code, syscall} = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' && syscall === 'mkdir') return words.ENOTDIR;
  return code === 'ENOENT' ? 'its folder does not exist' : readFault(error);
}
