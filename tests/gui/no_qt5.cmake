# The Qt 5 build of QCustomPlot links into a Qt 6 program without a word and aborts when it runs.
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE libraries RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT libraries MATCHES "libQt6Widgets")
  message(FATAL_ERROR "ldd ${PROGRAM} does not list Qt 6:\n${libraries}")
endif()
if(libraries MATCHES "Qt5|not found")
  message(FATAL_ERROR "${PROGRAM} is linked with the wrong libraries:\n${libraries}")
endif()
