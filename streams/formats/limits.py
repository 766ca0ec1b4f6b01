"""The limits of files: how much of one may be in memory at a time."""

MAX_LINE = 2**20  # bytes of a line, of a row that spans several lines, or of an XML tag
MAX_DOCUMENT = 2**23  # bytes of one JSON object: a task may contain whole conversations
MAX_RATINGS = 300_000  # of one file whose rows must be combined
MAX_XML_NAMES = 1000  # different names of elements and attributes: the parser keeps them all
MAX_RESULT = 2**22  # characters in the attributes of one XML element with all that it contains
MAX_WINDOW_LOG = 27  # of zstd: a decompressor may hold 128 MiB, which is the usual limit

# Parquet, where a few bytes can stand for millions of values.
MAX_FOOTER = 2**21  # bytes of the description of a file
MAX_PAGES = 2**27  # bytes of the largest pages of all columns that are read, decompressed
MAX_LISTED = 2**23  # values in the lists of one column of one row group
MAX_ROWS_PER_BYTE = 100  # of the file

# Other containers.
MAX_XZ_MEMORY = 2**27  # bytes that a decompressor may hold; the highest preset of xz needs half of it
MAX_MEMBERS = 1000  # files of a zip archive or of a folder
MAX_DIRECTORY = 2**20  # bytes of the directory of a zip archive
MAX_SHARED = 2**26  # characters of the texts that the cells of an xlsx file share: all are in memory
